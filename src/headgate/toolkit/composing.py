"""Tools that extract steps into a flow, and inline a flow."""

from typing import Annotated, Any

from pydantic import Field

from headgate.features.flows import composition
from headgate.foundation.ids import new_id
from headgate.foundation.names import name_from
from headgate.graph.extract import Extraction
from headgate.graph.repeat import MOST_ROUNDS, Mode, in_words, repeat_of
from headgate.toolkit import actions
from headgate.toolkit.flow.parts import NodeIds
from headgate.toolkit.ports import StoredFlow
from headgate.toolkit.reading import node_of
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

Rounds = Annotated[int, Field(ge=1, le=MOST_ROUNDS)]
FlowName = Annotated[str, Field(min_length=1, max_length=200)]


async def extract_flow(
    bench: Workbench, node_ids: NodeIds, name: FlowName, *, repeat: Mode = "once", until: str = "", most: Rounds = 10
) -> Result:
    """Move steps into a new flow; a RunFlow, ForEach or Loop step takes their place. Publish it before a run.

    Args:
        node_ids: The steps; models and tools follow.
        name: Name of the new flow.
        repeat: each: run it for each item of the list that enters the steps; until: until a condition holds.
        until: JMESPath condition on the result, with until.
        most: Maximum number of rounds, with until.
    """
    for node_id in node_ids:
        node_of(bench, node_id)
    if bench.stored is None:
        raise ToolRefused("No flow can be created here.", remedy="Continue without it.")
    flow_id, extraction = await _extracted(
        bench,
        bench.stored,
        node_ids=node_ids,
        name=name_from(name, longest=200, otherwise="Extracted"),
        how=repeat_of(repeat, until, most),
    )
    flow = extraction.flow
    bench.change(flow, actions.set_flow(flow, applies=not bench.pending))
    return {
        "ok": True,
        "node_id": extraction.node_id,
        "extracted_flow_id": flow_id,
        "left": list(extraction.left),
        **({"repeats": repeats} if (repeats := in_words(flow, extraction.node_id)) else {}),
        "note": "The user publishes the new flow on its page; this flow runs after that.",
    }


async def _extracted(bench: Workbench, stored: StoredFlow, **selection: Any) -> tuple[str, Extraction]:  # noqa: ANN401
    """Return the new flow's id with the extraction. The flow is stored, or left to the caller who stores this one."""
    studio = stored.visit.studio
    selection |= {"space_id": bench.space_id, "flow": bench.flow}
    if bench.created is None:
        async with studio.database.writing() as session:
            extracted = await composition.extract(session, bench.principal, studio.rules, publish=False, **selection)
        return extracted.row.id, extracted.extraction
    flow_id = new_id()
    async with studio.database.reading() as session:
        extraction = await composition.prepare(session, bench.principal, studio.rules, flow_id=flow_id, **selection)
    bench.created.append((flow_id, extraction.extracted))
    return flow_id, extraction


async def inline_flow(bench: Workbench, node_id: str) -> Result:
    """Replace a RunFlow step by the steps of its flow.

    Args:
        node_id: The step.
    """
    node_of(bench, node_id)
    if bench.stored is None:
        raise ToolRefused("No other flow can be read here.", remedy="Continue without it.")
    visit = bench.stored.visit
    async with visit.studio.database.reading() as session:
        flow, node_ids = await composition.inline(
            session, bench.principal, visit.studio.rules, space_id=bench.space_id, flow=bench.flow, node_id=node_id
        )
    bench.change(flow, actions.set_flow(flow, applies=not bench.pending))
    return {"ok": True, "node_ids": list(node_ids)}
