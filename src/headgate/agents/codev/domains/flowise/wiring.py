"""Connects edges: from names of a model to handles and references, as Flowise requires. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domains.flowise.drawn import (
    anchors_of,
    chosen_output,
    data_of,
    edges_of,
    fits,
    handles_of,
    id_of,
    inputs_of,
    is_agentflow_node,
    nodes_of,
    options_of,
    params_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.gathering import Faults
from headgate.agents.codev.domains.flowise.spec import SpecEdge, reference_to, references
from headgate.graph.names import did_you_mean, listed

Nodes = Mapping[str, dict[str, Any]]
"""Nodes by id."""
ENDING = "EndingNode"
"""The output of a function that is the end of its flow."""
_COLOR = "#9e9e9e"


def wire(nodes: Nodes, wanted: Sequence[SpecEdge], before: Mapping[str, Any], faults: Faults) -> list[JsonValue]:
    """Return the edges, and set the inputs that they fill; invalid ones become faults.

    References that stand in inputs become edges too. An edge that was there before stays the object that it was.
    """
    drawable = [one for one in wanted if one.source in nodes and one.target in nodes]
    faults.places.update(one.target for one in wanted if one not in drawable)  # its other end is what is wrong
    every = [*drawable, *_implied(nodes, drawable)]
    chosen: dict[str, str] = {}
    made: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    filled: dict[tuple[str, str], list[str]] = {}
    for one in every:
        with faults.part(one.source, one.target):
            edge = _agentflow_edge(nodes, one) if _is_agentflow(nodes, one) else _edge(nodes, one, chosen, filled)
            made[_key(edge)] = edge
    _fill(nodes, filled, by_id(nodes_of(before)), faults)
    held = {_key(one): one for one in edges_of(before)}
    return [held.get(key, edge) for key, edge in made.items()]


def _implied(nodes: Nodes, wanted: Sequence[SpecEdge]) -> list[SpecEdge]:
    """Return edges for references in inputs without an explicit edge."""
    named = {(one.source, one.target, one.input) for one in wanted}
    found: list[SpecEdge] = []
    for node_id, node in nodes.items():
        data = data_of(node)
        if is_agentflow_node(data):
            continue
        taking = {text_of(one.get("name")) for one in [*anchors_of(data), *params_of(data)] if _takes(data, one)}
        for name, value in inputs_of(data).items():
            sources = dict.fromkeys(references(value)) if name in taking else ()
            found += [
                SpecEdge(one, "", node_id, name)
                for one in sources
                if one in nodes and (one, node_id, name) not in named
            ]
    return found


def _edge(
    nodes: Nodes, wanted: SpecEdge, chosen: dict[str, str], filled: dict[tuple[str, str], list[str]]
) -> dict[str, Any]:
    target = data_of(nodes[wanted.target])
    source = data_of(nodes[wanted.source])
    taking = _taking(wanted, source, target)
    handle = _giving(wanted, source, taking, chosen)
    name = text_of(taking.get("name"))
    if taking in anchors_of(target):
        values = filled.setdefault((wanted.target, name), [])
        if values and taking.get("list") is not True and wanted.source not in values:
            raise BadSpec(
                f"'{wanted.target}.{name}' takes one connection and has two.", remedy="Remove one of the edges."
            )
        if wanted.source not in values:
            values.append(wanted.source)
    else:
        _refer(nodes[wanted.target], name, wanted, taking)
    return _drawn(wanted.source, text_of(handle.get("id")), wanted.target, text_of(taking.get("id")), "buttonedge")


def _taking(wanted: SpecEdge, source: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """The anchor or variable that an edge ends at."""
    places = [one for one in [*anchors_of(target), *params_of(target)] if _takes(target, one)]
    if wanted.input:
        found = next((one for one in places if one.get("name") == wanted.input), None)
        if found is not None:
            return found
        names = [text_of(one.get("name")) for one in places]
        raise BadSpec(
            f"'{wanted.target}' takes no connection at '{wanted.input[:80]}'{did_you_mean(wanted.input, names) or '.'}",
            remedy=f"It takes connections at: {listed(names, most=20)}.",
        )
    outputs = handles_of(source)
    fitting = [one for one in anchors_of(target) if any(fits(output, one) for output in outputs)]
    if len(fitting) == 1:
        return fitting[0]
    raise BadSpec(
        f"It is not clear where '{wanted.source}' is connected to '{wanted.target}'.",
        remedy=f"Name the input, as '{wanted.target}.input'. It takes connections at: "
        f"{listed([text_of(one.get('name')) for one in places], most=20)}.",
    )


def _giving(
    wanted: SpecEdge, source: dict[str, Any], taking: Mapping[str, Any], chosen: dict[str, str]
) -> dict[str, Any]:
    """Return the source output of an edge, and select it if the node has several."""
    options, handles = options_of(source), handles_of(source)
    if not handles:
        raise BadSpec(f"'{wanted.source}' has no output.")
    if not options:
        return handles[0]
    named = wanted.output or chosen.get(wanted.source, "")
    if named:
        found = next((one for one in options if one.get("name") == named), None)
        if found is None:
            names = [text_of(one.get("name")) for one in options]
            raise BadSpec(
                f"'{wanted.source}' has no output '{named[:80]}'{did_you_mean(named, names) or '.'}",
                remedy=f"It has: {listed(names)}.",
            )
    else:
        set_to = chosen_output(source)
        order = sorted(
            options, key=lambda one: (not fits(one, taking), one.get("name") == ENDING, one.get("name") != set_to)
        )
        found = order[0]
    _choose(wanted, source, found, chosen)
    return found


def _choose(wanted: SpecEdge, source: dict[str, Any], found: Mapping[str, Any], chosen: dict[str, str]) -> None:
    if found.get("isAnchor") is True:
        return
    name = text_of(found.get("name"))
    if chosen.setdefault(wanted.source, name) != name:
        raise BadSpec(
            f"'{wanted.source}' can use either '{chosen[wanted.source]}' or '{name}', not both.",
            remedy="Use a second node of that component for the second output.",
        )
    source["outputs"] = {**(source.get("outputs") or {}), "output": name}


def _refer(node: dict[str, Any], name: str, wanted: SpecEdge, taking: Mapping[str, Any]) -> None:
    """A variable is filled by a reference in its value."""
    inputs = data_of(node).setdefault("inputs", {})
    held = inputs.get(name)
    if wanted.source in references(held):
        return
    reference = reference_to(wanted.source)
    if held or taking.get("type") == "json":
        raise BadSpec(
            f"'{wanted.target}.{name}' does not say what it does with '{wanted.source}'.",
            remedy=f'Write "{reference}" where it belongs in the input '
            + ('\'s object, as {"name": "' + reference + '"}' if taking.get("type") == "json" else "'s text")
            + ", or remove the edge.",
        )
    inputs[name] = reference


def _fill(nodes: Nodes, filled: Mapping[tuple[str, str], list[str]], there: Nodes, faults: Faults) -> None:
    """Set references in connected inputs, reusing unchanged ones; clear others."""
    for node_id, node in nodes.items():
        data = data_of(node)
        if is_agentflow_node(data):
            continue
        held = inputs_of(data_of(there.get(node_id, {})))
        for anchor in anchors_of(data):
            name = text_of(anchor.get("name"))
            sources = filled.get((node_id, name), [])
            value = inputs_of(data).get(name)
            if not sources and value and not references(value):
                error = BadSpec(
                    f"'{node_id}.{name}' takes a node, not a value.", remedy=f"Connect a node to '{node_id}.{name}'."
                )
                faults.add(error, node_id)
            elif sources:
                data.setdefault("inputs", {})[name] = _filled(anchor, sources, held.get(name))
            elif value:
                data["inputs"][name] = ""


def _filled(anchor: Mapping[str, Any], sources: Sequence[str], held: JsonValue) -> JsonValue:
    if set(references(held)) == set(sources) and isinstance(held, list) == _is_list(anchor):
        return held
    made = [reference_to(one) for one in sources]
    return list[JsonValue](made) if _is_list(anchor) else made[0]


def _is_list(anchor: Mapping[str, Any]) -> bool:
    return anchor.get("list") is True


def _takes(data: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return given in anchors_of(data) or given.get("acceptVariable") is True


def _is_agentflow(nodes: Nodes, wanted: SpecEdge) -> bool:
    return is_agentflow_node(data_of(nodes[wanted.source]))


def _agentflow_edge(nodes: Nodes, wanted: SpecEdge) -> dict[str, Any]:
    source, target = data_of(nodes[wanted.source]), data_of(nodes[wanted.target])
    ends = [text_of(one.get("id")) for one in handles_of(source)]
    if not ends:
        raise BadSpec(f"No node can follow '{wanted.source}': it ends the flow.", remedy="Remove the edge.")
    names = [one.rpartition("-output-")[2] for one in ends]
    if wanted.output and wanted.output not in names:
        raise BadSpec(f"'{wanted.source}' has no output '{wanted.output[:80]}'.", remedy=f"It has: {listed(names)}.")
    if wanted.input:
        raise BadSpec(
            f"'{wanted.target}' has no input to connect to.", remedy=f"In an AgentflowV2 write 'to': '{wanted.target}'."
        )
    handle = ends[names.index(wanted.output)] if wanted.output else ends[0]
    edge = _drawn(wanted.source, handle, wanted.target, wanted.target, "agentFlow")
    colors = {"sourceColor": source.get("color") or _COLOR, "targetColor": target.get("color") or _COLOR}
    edge["data"] = {**colors, "isHumanInput": source.get("name") == "humanInputAgentflow"}
    return edge


def _drawn(source: str, source_handle: str, target: str, target_handle: str, type_: str) -> dict[str, Any]:
    return {
        "source": source,
        "sourceHandle": source_handle,
        "target": target,
        "targetHandle": target_handle,
        "type": type_,
        "id": f"{source}-{source_handle}-{target}-{target_handle}",
    }


def _key(edge: Mapping[str, Any]) -> tuple[str, str, str, str]:
    source, source_handle = text_of(edge.get("source")), text_of(edge.get("sourceHandle"))
    return source, source_handle, text_of(edge.get("target")), text_of(edge.get("targetHandle"))


def by_id(nodes: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Nodes by their id."""
    return {id_of(one): one for one in nodes}
