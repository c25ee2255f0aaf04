"""Operations that extract steps of a stored flow into another one, and inline a flow."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.flows import composition, service
from headgate.foundation.names import name_from
from headgate.graph.repeat import MOST_ROUNDS, Mode, in_words, repeat_of
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Revision

Rounds = Annotated[int, Field(ge=1, le=MOST_ROUNDS)]
NodeIds = Annotated[list[str], Field(min_length=1, max_length=500)]


class Extracted(TypedDict):
    """A flow with a step that runs the new one."""

    flow_id: str
    revision: int
    node_id: str
    extracted_flow_id: str
    published_version: int | None
    left: list[str]
    """Selected nodes that stayed: they read the input of the run, or show its result."""
    repeats: str
    """What the step repeats, read from the flow; empty when it runs the new flow once."""


class Inlined(TypedDict):
    """A flow with the steps of another one."""

    flow_id: str
    revision: int
    node_ids: list[str]


async def extract_flow(
    visit: Visit,
    flow_id: str,
    node_ids: NodeIds,
    name: str,
    *,
    publish: bool = False,
    repeat: Mode = "once",
    until: str = "",
    most: Rounds = 10,
    revision: Revision = 0,
) -> Extracted:
    """Move steps of a flow into a new flow; a RunFlow, ForEach or Loop step takes their place.

    Args:
        flow_id: Id of the flow.
        node_ids: The steps; models and tools follow.
        name: Name of the new flow.
        publish: Publish the new flow, so that this one can run.
        repeat: each: run it for each item of the list that enters the steps; until: until a condition holds.
        until: JMESPath condition on the result, with until.
        most: Maximum number of rounds, with until.
        revision: Expected revision; refused otherwise.
    """
    studio = visit.studio
    async with studio.database.writing() as session:
        row = await composition.locked(session, visit.principal, flow_id, revision=revision)
        extracted = await composition.extract(
            session,
            visit.principal,
            studio.rules,
            space_id=row.space_id,
            flow=service.definition_of(row),
            node_ids=node_ids,
            name=name_from(name, longest=200, otherwise="Extracted"),
            publish=publish,
            how=repeat_of(repeat, until, most),
        )
        extraction = extracted.extraction
        await service.replace_draft(session, visit.principal, studio.rules.catalog, row, extraction.flow)
    return {
        "flow_id": row.id,
        "revision": row.revision,
        "node_id": extraction.node_id,
        "extracted_flow_id": extracted.row.id,
        "published_version": extracted.row.published_version,
        "left": list(extraction.left),
        "repeats": in_words(extraction.flow, extraction.node_id),
    }


async def inline_flow(visit: Visit, flow_id: str, node_id: str, revision: Revision = 0) -> Inlined:
    """Replace a RunFlow step by the steps of its flow.

    Args:
        flow_id: Id of the flow.
        node_id: The step.
        revision: Expected revision; refused otherwise.
    """
    studio = visit.studio
    async with studio.database.writing() as session:
        row = await composition.locked(session, visit.principal, flow_id, revision=revision)
        flow, node_ids = await composition.inline(
            session,
            visit.principal,
            studio.rules,
            space_id=row.space_id,
            flow=service.definition_of(row),
            node_id=node_id,
        )
        await service.replace_draft(session, visit.principal, studio.rules.catalog, row, flow)
    return {"flow_id": row.id, "revision": row.revision, "node_ids": list(node_ids)}


OPERATIONS: tuple[Row, ...] = (
    (extract_flow, Permission.FLOWS_EDIT, "add"),
    (inline_flow, Permission.FLOWS_EDIT, "remove"),
)
"""Operations of this module."""
