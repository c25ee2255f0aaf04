"""Request and response bodies of proposed and saved components."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.graph.template import Template
from headgate.toolkit.ports import SavedComponent


class ReachOut(BaseModel):
    """Everything that the code may access: determined by static analysis, and enforced at run time."""

    hosts: list[str] = Field(description="Hosts that it connects to; the operator must allow them as well.")
    secrets: list[str] = Field(description="Fields that take a secret; it reads no others.")
    files: bool = Field(description="Whether it uses files of the run.")
    imports: list[str] = Field(description="Modules that it imports.")


class ComponentProposalIn(BaseModel):
    """Code that is to become a component."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=1_000_000, description="A Python module with one component class.")


class ComponentProposalOut(BaseModel):
    """A checked component that is not stored, or the errors of its code."""

    ok: bool = Field(description="Whether it can be saved.")
    proposal_id: str = Field(default="", description="Proposal id, for saving exactly this code.")
    expires_at: datetime | None = None
    type: str = Field(default="", description="The class name, which is the node's type.")
    template: Template | None = None
    reach: ReachOut | None = None
    note: str = Field(default="", description="Why it was not tried with sample values, or the outcome of the trial.")
    findings: list[dict[str, Any]] = Field(
        default_factory=list, description="Each problem: `code`, `message`, `remedy`, `line`, `column`."
    )

    @classmethod
    def of(cls, proposed: ProposedComponent) -> Self:
        """Return the response for valid code."""
        checked = proposed.checked
        return cls(
            ok=True,
            proposal_id=proposed.id,
            expires_at=proposed.expires_at,
            type=checked.type,
            template=checked.template,
            reach=ReachOut.model_validate(checked.reach),
            note=checked.note,
        )

    @classmethod
    def of_faults(cls, error: ComponentNotMade) -> Self:
        """Return the response for invalid code."""
        findings = error.extra.get("findings")
        listed = findings if isinstance(findings, list) else []
        return cls(ok=False, findings=[dict(finding) for finding in listed if isinstance(finding, dict)])


class ComponentSaveIn(BaseModel):
    """A proposed component that its user accepts."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=1_000_000, description="The proposed code, unchanged.")
    proposal_id: str = Field(min_length=1, max_length=200, description="Id from the proposal.")


class ComponentSavedOut(BaseModel):
    """A component that was saved."""

    type: str = Field(description="The class name, which is the node's type.")
    template: Template
    stored: bool = Field(alias="kept", description="Whether your next requests can use it.")
    not_kept: str = Field(default="", description="Why they cannot.")

    @classmethod
    def of(cls, saved: SavedComponent) -> Self:
        """Return the response for a saved component."""
        return cls(type=saved.checked.type, template=saved.checked.template, kept=saved.stored, not_kept=saved.not_kept)
