"""The toolkit's tools on stored flows: opened, changed and saved in one transaction, so that no change is lost."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows import service as flows
from headgate.features.flows import versions
from headgate.features.flows.tables import FlowRow
from headgate.graph.diff import is_replaced
from headgate.graph.layout import keep_arranged
from headgate.graph.model import Flow
from headgate.toolkit.shown import refuse_redacted
from headgate.toolkit.stored.operation import ANY_OBJECT, BadArguments, Operation, OperationFailed
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Result, ToolDefinition
from headgate.toolkit.workbench import Workbench

_FLOW_ID = {"type": "string", "description": "Id of the flow."}
_SAVED = {
    "type": "object",
    "properties": {"flow_id": {"type": "string"}, "revision": {"type": "integer"}},
    "required": ["flow_id", "revision"],
}
_LEFT_OUT = frozenset({"ok", "note"})
"""Members of a tool's result for the assistant only."""


def on_flow(tool: ToolDefinition, *, description: str = "") -> Operation:
    """Return a tool of the toolkit as an operation on the draft of a stored flow."""

    async def call(visit: Visit, arguments: dict[str, Any]) -> Result:
        rest = dict(arguments)
        flow_id = rest.pop("flow_id", None)
        if not isinstance(flow_id, str):
            remedy = f"Arguments: flow_id, {', '.join(tool.arguments.model_fields)}."
            raise BadArguments(f"{tool.name}: flow_id: the id of a flow is required", remedy=remedy)
        return await edit(visit, tool, flow_id, rest)

    def schema() -> dict[str, Any]:
        return tool.schema | {
            "properties": {"flow_id": _FLOW_ID} | tool.schema.get("properties", {}),
            "required": ["flow_id", *tool.schema.get("required", ())],
        }

    described = description or tool.description
    output = ANY_OBJECT if tool.kind == "read" else _SAVED
    return Operation(tool.name, described, schema, lambda: output, tool.permission, tool.kind, call)


def personal(tool: ToolDefinition) -> Operation:
    """Return a tool of the toolkit that concerns the user instead of a flow."""

    async def call(visit: Visit, arguments: dict[str, Any]) -> Result:
        bench = visit.bench(Flow(), visit.principal.space_id, await visit.catalog(Flow()))
        return _answer(await tool.call(bench, arguments))

    return Operation(
        tool.name, tool.description, lambda: tool.schema, lambda: ANY_OBJECT, tool.permission, tool.kind, call
    )


async def edit(visit: Visit, tool: ToolDefinition, flow_id: str, arguments: dict[str, Any]) -> Result:
    """Call a tool on a flow's draft and save its changes. The row is locked: no concurrent change is overwritten."""
    refuse_redacted(arguments)
    row = await visit.flow(flow_id, tool.permission)
    flow = flows.definition_of(row)
    catalog, environment = await visit.catalog(flow), await visit.environment(row.space_id, flow)
    if tool.kind == "read":
        return _answer(
            await tool.call(visit.bench(flow, row.space_id, catalog, environment, flow_id=row.id), arguments)
        )
    async with visit.studio.database.writing() as session:
        row = await flows.get_flow(session, visit.principal, flow_id, permission=tool.permission, lock=True)
        before = flows.definition_of(row)
        bench = visit.bench(before, row.space_id, catalog, environment)
        answer = _answer(await tool.call(bench, arguments))
        answer |= await _saved(session, visit, bench, row, before)
    return {"flow_id": row.id, "revision": row.revision, **answer}


async def _saved(session: AsyncSession, visit: Visit, bench: Workbench, row: FlowRow, before: Flow) -> Result:
    """Save the changes; a completely replaced draft is stored as a version first."""
    answer: Result = {}
    if bench.flow == before:
        return answer
    if is_replaced(before, bench.flow):
        version = await versions.keep_draft(session, visit.principal, visit.studio.registry, row.id)
        answer["kept_version"] = version.version
    flow = keep_arranged(before, bench.flow, bench.registry)
    await flows.save_draft(session, visit.principal, bench.registry, row.id, revision=row.revision, definition=flow)
    return answer


def _answer(result: Result) -> Result:
    """Return a tool's result for a client. Raises `OperationFailed` when it refused."""
    if not result.get("ok", True) or "error" in result:
        raise OperationFailed({key: value for key, value in result.items() if key != "ok"})
    return {key: value for key, value in result.items() if key not in _LEFT_OUT}
