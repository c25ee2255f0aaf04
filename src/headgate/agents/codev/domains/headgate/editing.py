"""Tools that change the session's flow: the toolkit's own, on a workbench with the current flow.

Nothing is stored here: a tool says what the flow would be, and the journal writes it.
"""

from collections.abc import Sequence
from typing import Any, cast

from pydantic import JsonValue

from headgate.agents.codev.domain import Answer, Change, DomainTool, Held, Phase
from headgate.agents.codev.domains.headgate.definitions import definition_of, flow_of
from headgate.agents.codev.domains.headgate.faults import BY_NAME, STANDING, half_done, new_keys
from headgate.agents.codev.domains.headgate.place import Place
from headgate.features.flows.readiness.check import check
from headgate.graph.flow_io import classify_io
from headgate.graph.json_values import plain_json
from headgate.graph.model import Flow
from headgate.graph.names import listed
from headgate.graph.template import Catalog
from headgate.toolkit.proof import diff_lines, validation
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.stored.operation import plain
from headgate.toolkit.tool import ToolDefinition

PATCHING = frozenset({Phase.PATCH})
BUILD = "build_flow"
EXTRACT = "extract_flow"
_EDITING = (
    BUILD,
    "add_component",
    "remove_component",
    "connect_components",
    "disconnect_components",
    "configure_component",
    "rename_component",
    "edit_flow",
    EXTRACT,
    "inline_flow",
)
_DESCRIPTIONS = {
    BUILD: (
        "Write a complete flow as spec text: a new one, or a replacement. Any error refuses it completely and is"
        " listed. For small changes to an existing flow use the other tools."
    ),
    "add_component": "Add a node to the flow. Connect it afterwards: no node may stay unconnected.",
}
_LEFT_OUT = frozenset({"ok", "note", "graph", "patch", "issues"})
"""Members of a tool's result that are for the assistant's canvas, or reported differently here."""
_SUMMARY = 300
_NO_FLOW = ("There is no flow yet.", f"Create it with {BUILD}: write the complete flow as spec text.")


def editing_tools(place: Place) -> Sequence[DomainTool]:
    """The tools that change the flow, in the order a model sees them."""
    named = {tool.name: tool for tool in TOOLS}
    return [_of_tool(place, named[name]) for name in _EDITING]


def _of_tool(place: Place, tool: ToolDefinition) -> DomainTool:
    async def change(held: Held | None, arguments: dict[str, Any]) -> Change | Answer:
        if held is None and tool.name != BUILD:
            return _refused(*_NO_FLOW)
        refused = _unstorable(tool.name, arguments)
        if refused is not None:
            return refused
        before = flow_of(held.definition if held is not None else None)
        await _learn(place, held, before)
        bench = place.visit.bench(before, _space(place, held), place.catalog, place.environment)
        bench.created = []
        answer = await tool.call(bench, arguments)
        place.catalog = bench.registry
        if "error" in answer:
            return answer
        details: Answer = {name: value for name, value in answer.items() if name not in _LEFT_OUT}
        if tool.name == EXTRACT:
            details["note"] = answer["note"]
        change = _changed(place, held, before, bench.flow, details)
        if isinstance(change, Change):
            change.creates.extend({"id": flow_id, "definition": definition_of(flow)} for flow_id, flow in bench.created)
        return change

    description = _DESCRIPTIONS.get(tool.name, tool.description)
    return DomainTool(tool.name, description, plain(tool.schema), PATCHING, change=change)


async def _learn(place: Place, held: Held | None, flow: Flow) -> None:
    """Load the available components and the environment of the space."""
    await place.learn(flow)
    place.environment = await place.visit.environment(_space(place, held), flow)


def _changed(place: Place, held: Held | None, before: Flow, after: Flow, answer: Answer) -> Change | Answer:
    """Return a tool's change of the flow with its remaining problems, or a result without a change."""
    if after == before and held is not None:
        return answer | {"ok": True, "note": "Nothing changed: the flow already has these values."}
    written = new_keys(before, after, place.catalog)
    if written:  # here and not before the write: a key that people wrote down stays possible
        return {
            "ok": False,
            "error": f"{', '.join(written)} would contain a key as text, visible to everyone with access to the flow.",
            "remedy": BY_NAME,
        }
    lines = diff_lines(before, after, place.catalog)
    return Change(
        definition=definition_of(after),
        summary=_summary(held, after, lines),
        name=after.name,
        about=_about(place, held, before),
        answer=answer | validation(check(after, place.catalog, place.environment)) | _ends(after, place.catalog),
    )


def _about(place: Place, held: Held | None, before: Flow) -> dict[str, JsonValue]:
    standing = half_done(before, place.catalog)
    more: dict[str, JsonValue] = {STANDING: list[JsonValue](standing)} if standing else {}
    return (held.about if held is not None else {}) | more


def _ends(flow: Flow, catalog: Catalog) -> Answer:
    """Return a note on several end nodes: it is ambiguous which is the flow's answer."""
    ends = [output.node for output in classify_io(flow, catalog).outputs if output.kind in {"chat", "text", "data"}]
    if len(ends) < 2:
        return {}
    return {
        "warning": f"The flow has {len(ends)} ends: {listed(ends, most=10)}. Only one text is the answer; use Merge."
    }


def _space(place: Place, held: Held | None) -> str:
    return str(held.about.get("space_id", place.space_id)) if held is not None else place.space_id


def _summary(held: Held | None, after: Flow, lines: list[str]) -> str:
    if held is None:
        return f"made '{after.name}' with {len(after.nodes)} nodes"[:_SUMMARY]
    more = f" (and {len(lines) - 2} more)" if len(lines) > 2 else ""
    return ("; ".join(lines[:2])[: _SUMMARY - len(more)] + more).replace("\n", " ")


def _unstorable(name: str, arguments: dict[str, Any]) -> Answer | None:
    """The refusal of what no database stores: NUL, half a surrogate pair, endless nesting."""
    try:
        plain_json(cast("JsonValue", arguments))
    except ValueError as error:
        return _refused(f"{name}: {error}", "Omit it.")
    return None


def _refused(error: str, remedy: str) -> Answer:
    return {"ok": False, "error": error, "remedy": remedy}
