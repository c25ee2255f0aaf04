"""`read_flow`: first the structure of the flow, then the values of the requested nodes, in pages."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import orjson
from pydantic import JsonValue

from headgate.graph.geometry import GROUP_TYPE
from headgate.graph.interpolate import texts_in
from headgate.graph.model import Flow, Node, StepPolicy
from headgate.graph.names import did_you_mean
from headgate.graph.spec_print import changed_members
from headgate.graph.wiring import NOTE_TYPE, Wiring, wire
from headgate.toolkit.flow.clipped import clipped_value, size_of
from headgate.toolkit.flow.index import group_members, in_order, node_line, references_of
from headgate.toolkit.proof import diff_lines
from headgate.toolkit.reading import node_of
from headgate.toolkit.shown import shown_flow
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

PAGE_CHARACTERS = 6_000
"""Node characters in one answer."""
CLIP = 300
"""Characters of one value; `get_field_value` returns the rest."""
MOST_REVISIONS = 20
MOST_CHANGES = 4
"""Changes listed per revision."""
Part = Literal["nodes", "form", "settings", "policies", "notes", "groups", "revisions"]


async def read_flow(  # noqa: PLR0917 - arguments of a tool
    bench: Workbench,
    node_id: str = "",
    distance: int = 0,
    query: str = "",
    part: Part = "nodes",
    values: bool = False,  # noqa: FBT001, FBT002 - an argument of a tool
    after: str = "",
) -> Result:
    """Read the flow: every node and edge, with values on request.

    Args:
        node_id: Only this node, with its values.
        distance: With node_id: include neighbours within this many edges.
        query: Only nodes with this text in id, type, title or values.
        part: Another part of the flow.
        values: Show all values, long ones truncated.
        after: Last node of the previous page.
    """
    if part == "revisions":
        return {"ok": True, "revisions": await _revisions(bench)}
    flow = shown_flow(bench.flow, bench.registry)
    if part != "nodes":
        return {"ok": True, part: _part(bench, flow, part)}
    wiring = wire(flow, bench.registry)
    nodes = in_order(wiring)
    if node_id:
        node_of(bench, node_id)
        near = _near(wiring, node_id, max(0, distance))
        nodes = [node for node in nodes if node.id in near]
    answer = _head(flow)
    if query.strip():
        nodes = [node for node in nodes if _has(node, query.strip().casefold())]
        if not nodes:
            answer["hint"] = f"No node contains '{query.strip()[:80]}' in its id, type, title or values."
    return answer | _page(wiring, nodes, after, with_values=values or bool(node_id or query.strip()))


@dataclass(slots=True)
class _Shown:
    """Options of a page."""

    nodes: list[JsonValue]
    edges: list[JsonValue]
    references: list[JsonValue]
    values: dict[str, JsonValue]


def _head(flow: Flow) -> Result:
    totals: dict[str, JsonValue] = {"nodes": len(flow.nodes), "edges": len(flow.edges)}
    counts = {
        "form": len(flow.form),
        "notes": sum(node.type == NOTE_TYPE for node in flow.nodes),
        "groups": sum(node.type == GROUP_TYPE for node in flow.nodes),
        "policies": sum(node.policy != StepPolicy() for node in flow.nodes),
    }
    totals |= {name: number for name, number in counts.items() if number}
    head: Result = {"ok": True, "name": flow.name, "total": totals}
    return head | ({"description": clipped_value(flow.description, CLIP)} if flow.description else {})


def _page(wiring: Wiring, nodes: Sequence[Node], after: str, *, with_values: bool) -> Result:
    """Return as many nodes as fit a page, at least one, and how to get the next page."""
    ids = [node.id for node in nodes]
    if after and after not in ids:
        raise ToolRefused(
            f"No page ends with '{after[:80]}'{did_you_mean(after, ids) or '.'}",
            remedy="Set `after` to the value of `next` from the previous page.",
        )
    start = ids.index(after) + 1 if after else 0
    shown, room, end = _Shown([], [], [], {}), PAGE_CHARACTERS, start
    for node in nodes[start:]:
        part = _one(wiring, node, with_values=with_values)
        room -= size_of([*part.nodes, *part.edges, *part.references]) + (size_of(part.values) if with_values else 0)
        if room < 0 and end > start:
            break
        _add(shown, part)
        end += 1
    answer: Result = {"nodes": shown.nodes, "edges": shown.edges}
    if shown.references:
        answer["references"] = shown.references
    if with_values:
        answer["values"] = shown.values
    if start or end < len(nodes):
        answer["shown"] = f"{start + 1}-{end} of {len(nodes)} nodes"
    if end < len(nodes):
        answer["next"] = f"Call read_flow again with after='{ids[end - 1]}'."
    return answer


def _one(wiring: Wiring, node: Node, *, with_values: bool) -> _Shown:
    return _Shown(
        [node_line(node)],
        [edge_wire.edge.id for edge_wire in wiring.leaving[node.id]],
        list(references_of(wiring, node)),
        {node.id: _values(node)} if with_values else {},
    )


def _add(shown: _Shown, part: _Shown) -> None:
    shown.nodes += part.nodes
    shown.edges += part.edges
    shown.references += part.references
    shown.values |= part.values


def _values(node: Node) -> JsonValue:
    values: dict[str, JsonValue] = {name: clipped_value(value, CLIP) for name, value in node.params.items()}
    if node.code is not None:
        values["code"] = clipped_value(node.code, CLIP)
    policy = changed_members(node.policy, StepPolicy())
    return values | ({"policy": clipped_value(policy, 4 * CLIP)} if policy else {})


def _part(bench: Workbench, flow: Flow, part: Part) -> JsonValue:
    if part == "form":
        return [field.model_dump(mode="json", exclude_defaults=True) | {"type": field.type} for field in flow.form]
    if part == "settings":
        return flow.settings.model_dump(mode="json")
    if part == "policies":
        every = {node.id: changed_members(node.policy, StepPolicy()) for node in flow.nodes}
        return {key: dict(policy) for key, policy in every.items() if policy}
    if part == "notes":
        return [{"id": node.id, "text": node.params.get("text", "")} for node in flow.nodes if node.type == NOTE_TYPE]
    inside = group_members(bench.flow, bench.registry)
    titles = {node.id: node.params.get("title", "") for node in flow.nodes}
    return [{"id": key, "title": titles[key], "nodes": list[JsonValue](ids)} for key, ids in inside.items()]


async def _revisions(bench: Workbench) -> JsonValue:
    """Return the newest stored drafts and their changes: what `undo` can restore."""
    drafts = await bench.stored.drafts(most=MOST_REVISIONS + 1) if bench.stored is not None else []
    lines: list[JsonValue] = []
    for number, draft in enumerate(drafts[:MOST_REVISIONS]):
        line: dict[str, JsonValue] = {"revision": draft.revision, "saved_at": draft.saved_at.isoformat()}
        if draft.restores is not None:
            line["restores"] = draft.restores
        if number + 1 < len(drafts):
            changes = diff_lines(drafts[number + 1].flow, draft.flow, bench.registry)
            line["changes"] = clipped_value(list[JsonValue](changes[:MOST_CHANGES]), CLIP)
            if len(changes) > MOST_CHANGES:
                line["more_changes"] = len(changes) - MOST_CHANGES
        lines.append(line)
    return lines


def _near(wiring: Wiring, node_id: str, distance: int) -> set[str]:
    """Return the nodes within a distance of one, including references."""
    far = {node_id: 0}
    waiting = deque([node_id])
    while waiting:
        here = waiting.popleft()
        if far[here] == distance:
            continue
        for other in _neighbours(wiring, here):
            if other not in far:
                far[other] = far[here] + 1
                waiting.append(other)
    return set(far)


def _neighbours(wiring: Wiring, key: str) -> Iterable[str]:
    yield from (edge_wire.edge.source for edge_wire in wiring.arriving[key])
    yield from (edge_wire.edge.target for edge_wire in wiring.leaving[key])
    yield from wiring.parents.get(key, ())
    yield from wiring.children.get(key, ())


def _has(node: Node, text: str) -> bool:
    policy = orjson.loads(node.policy.model_dump_json(exclude_defaults=True))
    words = (node.id, node.type, node.label, node.code or "", *texts_in(node.params), *texts_in(policy))
    return any(text in word.casefold() for word in words)
