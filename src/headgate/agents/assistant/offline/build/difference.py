"""The tool calls that turn one flow into another."""

from collections.abc import Iterator

from pydantic import JsonValue

from headgate.agents.assistant.offline.understanding import Action
from headgate.graph.model import Edge, Flow, Node, StepPolicy


def actions_between(before: Flow, after: Flow, renamed: dict[str, str] | None = None) -> tuple[Action, ...]:
    """Return calls in an executable order: rename, disconnect, remove, add, configure, connect."""
    return tuple(_actions(before, after, renamed or {}))


def _actions(before: Flow, after: Flow, renamed: dict[str, str]) -> Iterator[Action]:
    for old, new in renamed.items():
        yield Action("rename_component", {"node_id": old, "new_id": new})
    old_edges = [_renamed(edge, renamed) for edge in before.edges]
    node_ids = {node.id for node in after.nodes}
    for edge in old_edges:
        if edge not in after.edges and edge.source in node_ids and edge.target in node_ids:
            yield Action("disconnect_components", _ends(edge))
    yield from _flow_action(before, after)
    yield from _node_actions({renamed.get(node.id, node.id): node for node in before.nodes}, after)
    staying = [edge for edge in old_edges if edge in after.edges]
    for edge in _out_of_order(staying, after):
        staying.remove(edge)
        yield Action("disconnect_components", _ends(edge))
    for edge in after.edges:
        if edge not in staying:
            yield Action("connect_components", _ends(edge))


def _node_actions(old: dict[str, Node], after: Flow) -> Iterator[Action]:
    """Removals, additions and new values, in that order of nodes."""
    new = {node.id: node for node in after.nodes}
    for node_id in old:
        if node_id not in new:
            yield Action("remove_component", {"node_id": node_id})
    for node_id, node in new.items():
        if node_id not in old:
            arguments: dict[str, JsonValue] = {"component_type": node.type, "node_id": node_id}
            yield Action("add_component", arguments | ({"params": dict(node.params)} if node.params else {}))
        known = old.get(node_id, node.model_copy(update={"policy": StepPolicy()}))
        changed = {
            "params": _changed(known.params, node.params),
            "policy": _changed(known.policy.model_dump(mode="json"), node.policy.model_dump(mode="json")),
        }
        if any(changed.values()):
            parts: dict[str, JsonValue] = {name: values for name, values in changed.items() if values}
            yield Action("configure_component", {"node_id": node_id, **parts})


def _flow_action(before: Flow, after: Flow) -> Iterator[Action]:
    """The settings and the form, where they differ."""
    settings = [flow.settings.model_dump(mode="json") for flow in (before, after)]
    arguments: dict[str, JsonValue] = {"settings": changed} if (changed := _changed(*settings)) else {}
    if before.form != after.form:
        arguments["form"] = [field.model_dump(mode="json") for field in after.form]
    if arguments:
        yield Action("edit_flow", arguments)


def _out_of_order(staying: list[Edge], after: Flow) -> list[Edge]:
    """Return edges to recreate because a new one precedes them at the same input: parts keep their order."""
    again: list[Edge] = []
    broken: set[tuple[str, str]] = set()
    for edge in after.edges:
        port = (edge.target, edge.input)
        if edge not in staying:
            broken.add(port)
        elif port in broken:
            again.append(edge)
    return again


def _renamed(edge: Edge, renamed: dict[str, str]) -> Edge:
    source, target = renamed.get(edge.source, edge.source), renamed.get(edge.target, edge.target)
    return edge.model_copy(update={"source": source, "target": target})


def _changed(old: dict[str, JsonValue], new: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The fields that differ; null for one that lost its value."""
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return changed | dict.fromkeys((name for name in old if name not in new), None)


def _ends(edge: Edge) -> dict[str, JsonValue]:
    return {
        "source_id": edge.source,
        "source_output": edge.output,
        "target_id": edge.target,
        "target_input": edge.input,
    }
