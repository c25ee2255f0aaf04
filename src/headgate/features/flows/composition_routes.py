"""HTTP routes that extract steps into a flow, and inline a flow."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows import composition, service
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.summaries import FlowSummary
from headgate.foundation.api import Routes, WriteSession, part
from headgate.foundation.names import Name
from headgate.graph.model import Flow
from headgate.graph.repeat import MOST_ROUNDS, Mode, in_words, repeat_of

router = Routes(prefix="/flows", tags=["flows"])
EDIT = needs(Permission.FLOWS_EDIT)


class _On(BaseModel):
    """The draft to change: the stored one, or one that its editor has not saved yet."""

    model_config = ConfigDict(extra="forbid")

    revision: int = Field(default=0, ge=0, description="Revision of the stored draft; 0: whatever it is now.")
    definition: Flow | None = Field(
        default=None, description="An unsaved draft. It is returned with the change, and not stored."
    )


class ExtractIn(_On):
    """Steps that become a flow."""

    node_ids: list[str] = Field(min_length=1, max_length=500)
    name: Annotated[Name, Field(min_length=1, max_length=200)]
    publish: bool = Field(default=False, description="Publish the new flow, so that this one can run it.")
    repeat: Mode = Field(
        default="once",
        description="each: run it for each item of the list that enters the selection; until: until a condition holds.",
    )
    until: str = Field(default="", max_length=2_000, description="JMESPath condition on the result, with until.")
    most: int = Field(default=10, ge=1, le=MOST_ROUNDS, description="Maximum number of rounds, with until.")


class InlineIn(_On):
    """A step that runs a flow."""

    node_id: str = Field(min_length=1, max_length=64)


class ExtractOut(BaseModel):
    """The flow with the step that runs the new one."""

    definition: Flow
    revision: int
    """Revision of the stored draft, after it was saved."""
    node_id: str
    """The step that runs the new flow."""
    left: list[str]
    """Selected nodes that stayed: they read the input of the run, or show its result."""
    extracted: FlowSummary
    """The new flow."""
    repeats: str
    """What the step repeats, read from the flow; empty when it runs the new flow once."""


class InlineOut(BaseModel):
    """The flow with the steps of the other one."""

    definition: Flow
    revision: int
    node_ids: list[str]
    """The added nodes."""


Rules = Annotated[FlowRules, part("rules")]


@router.post("/{flow_id}/extract", "Extract steps into a flow", [EDIT], status_code=201, problems=(403, 404, 409))
async def extract(flow_id: str, body: ExtractIn, session: WriteSession, caller: Caller, rules: Rules) -> ExtractOut:
    """Create a flow of the selected steps, and put a step that runs it in their place: once, with the same result.

    Or for each item of the list that enters the selection (ForEach), or until a condition on its result holds (Loop).
    """
    row = await composition.locked(session, caller, flow_id, revision=body.revision)
    flow = body.definition or service.definition_of(row)
    extracted = await composition.extract(
        session,
        caller,
        rules,
        space_id=row.space_id,
        flow=flow,
        node_ids=body.node_ids,
        name=body.name,
        publish=body.publish,
        how=repeat_of(body.repeat, body.until, body.most),
    )
    extraction = extracted.extraction
    if body.definition is None:  # else its editor saves it
        await service.replace_draft(session, caller, rules.catalog, row, extraction.flow)
    return ExtractOut(
        definition=extraction.flow,
        revision=row.revision,
        node_id=extraction.node_id,
        left=list(extraction.left),
        extracted=FlowSummary.model_validate(extracted.row),
        repeats=in_words(extraction.flow, extraction.node_id),
    )


@router.post("/{flow_id}/inline", "Inline a flow", [EDIT], problems=(403, 404, 409))
async def inline(flow_id: str, body: InlineIn, session: WriteSession, caller: Caller, rules: Rules) -> InlineOut:
    """Replace a step that runs a flow by the steps of that flow. A run has the same result."""
    row = await composition.locked(session, caller, flow_id, revision=body.revision)
    flow = body.definition or service.definition_of(row)
    merged, node_ids = await composition.inline(
        session, caller, rules, space_id=row.space_id, flow=flow, node_id=body.node_id
    )
    if body.definition is None:
        await service.replace_draft(session, caller, rules.catalog, row, merged)
    return InlineOut(definition=merged, revision=row.revision, node_ids=list(node_ids))
