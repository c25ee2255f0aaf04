"""What the API says of code that was checked."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.graph.template import Template


class ComponentCheckIn(BaseModel):
    """Code that is to become a component."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=1_000_000, description="A Python module with one component class.")


class ManifestOut(BaseModel):
    """What the code may reach: found by reading it, and enforced when it runs."""

    imports: list[str] = Field(description="Modules that it imports.")
    hosts: list[str] = Field(description="Hosts that it asks for; the operator must allow them as well.")
    files: bool = Field(description="Whether it works with files.")


class ComponentCheckOut(BaseModel):
    """What a check found."""

    ok: bool = Field(description="Whether flows may have this code in a node.")
    type: str = Field(default="", description="The class name, which is the node's type.")
    template: Template | None = None
    manifest: ManifestOut | None = None
    note: str = Field(default="", description="Why it was not tried with samples, or what came of it.")
    findings: list[dict[str, Any]] = Field(
        default_factory=list, description="Each fault: `code`, `message`, `remedy`, `line`, `column`."
    )

    @classmethod
    def of(cls, made: CheckedComponent) -> Self:
        """What is said of code that passed."""
        manifest = ManifestOut.model_validate(made.manifest.as_json())
        return cls(ok=True, type=made.type, template=made.template, manifest=manifest, note=made.note)

    @classmethod
    def of_faults(cls, error: ComponentNotMade) -> Self:
        """What is said of code that did not."""
        found = error.extra.get("findings")
        listed = found if isinstance(found, list) else []
        return cls(ok=False, findings=[dict(one) for one in listed if isinstance(one, dict)])
