"""API schemas of flows."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.flows.readiness.answer import Need
from headgate.features.flows.summaries import FlowSummary, VersionSummary
from headgate.foundation.names import Name
from headgate.graph.json_values import PlainText
from headgate.graph.model import Flow, NodeId

IssueOut = dict[str, Any]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FlowCreate(_In):
    """A new flow: empty, from a definition, from spec text or from a template."""

    name: Annotated[Name, Field(max_length=200)] | None = None
    description: PlainText | None = Field(default=None, max_length=10_000)
    space_id: str | None = None
    definition: Flow | None = None
    spec: str | None = Field(default=None, max_length=1_000_000, description="The flow as spec text.")
    template: str | None = Field(
        default=None,
        max_length=100,
        description="Id of a template. Flows that its steps run are created and published too, when they are not yet.",
    )
    labels: dict[NodeId, Annotated[PlainText, Field(max_length=200)]] = Field(
        default_factory=dict, max_length=1_000, description="Titles of nodes of the template, in another language."
    )


class FlowPatch(_In):
    """New name or description."""

    name: Annotated[Name, Field(max_length=200)] | None = None
    description: PlainText | None = Field(default=None, max_length=10_000)


class OwnerIn(_In):
    """A new owner."""

    user_id: str = Field(min_length=1, max_length=64, description="A member of the space who may edit flows there.")


class DraftPatch(_In):
    """A complete new draft, based on the revision that the caller read."""

    revision: int = Field(ge=1)
    definition: Flow


class PublishIn(_In):
    """Publish the draft."""

    notes: str = Field(default="", max_length=2_000)


class ImportIn(_In):
    """A flow from a file: spec text or exported JSON."""

    content: str = Field(max_length=4_000_000)
    space_id: str | None = None


class RestoreIn(_In):
    """The version to restore as the draft."""

    revision: int = Field(ge=1, description="The draft's revision, so that concurrent edits are not overwritten.")


class FlowOut(FlowSummary):
    """A flow with its draft."""

    definition: Flow
    issues: list[IssueOut] = Field(
        default_factory=list,
        description=("Problems that prevent the draft from running; with `severity` warning, problems that may."),
    )
    needs: list[Need] = Field(default_factory=list, description="External resources that the draft uses.")


class FlowCreated(FlowOut):
    """A new flow."""

    also_created: list[FlowSummary] = Field(
        default_factory=list, description="Flows of the template's steps that were created and published with it."
    )
    notes: list[str] = Field(
        default_factory=list,
        description="Flows of the template's steps that are not ready to be published, and notes on triggers.",
    )


class VersionOut(VersionSummary):
    """A version with its content."""

    definition: Flow


class DiffOut(BaseModel):
    """What changed between two versions."""

    before: int | Literal["draft"]
    after: int | Literal["draft"]
    identical: bool
    lines: list[str]
    """For users."""
    changes: dict[str, Any]
    """For programs: nodes, edges, form, settings."""


class FlowImported(FlowOut):
    """A flow of a file."""

    notes: list[str] = Field(
        default_factory=list, description="Triggers of the file that were omitted, or that are to be completed."
    )


class ExportOut(BaseModel):
    """A flow as a file."""

    name: str
    format: Literal["spec", "json", "svg"]
    content: str
