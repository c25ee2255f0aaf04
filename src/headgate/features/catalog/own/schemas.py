"""API schemas of code checks."""

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
    """Access of the code: derived from its source, and enforced when it runs."""

    imports: list[str] = Field(description="Modules that it imports.")
    hosts: list[str] = Field(description="Hosts that it connects to; the operator must allow them as well.")
    files: bool = Field(description="Whether it uses files.")


class ComponentCheckOut(BaseModel):
    """Result of a check."""

    ok: bool = Field(description="Whether flows may use this code in a node.")
    type: str = Field(default="", description="The class name, which is the node's type.")
    template: Template | None = None
    manifest: ManifestOut | None = None
    note: str = Field(default="", description="Why it was not tried with sample values, or the outcome.")
    findings: list[dict[str, Any]] = Field(
        default_factory=list, description="Each problem: `code`, `message`, `remedy`, `line`, `column`."
    )

    @classmethod
    def of(cls, component: CheckedComponent) -> Self:
        """Return the result for code that passed."""
        manifest = ManifestOut.model_validate(component.manifest.as_json())
        return cls(ok=True, type=component.type, template=component.template, manifest=manifest, note=component.note)

    @classmethod
    def of_faults(cls, error: ComponentNotMade) -> Self:
        """Return the result for code that did not pass."""
        faults = error.extra.get("findings")
        items = faults if isinstance(faults, list) else []
        return cls(ok=False, findings=[dict(item) for item in items if isinstance(item, dict)])
