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


def wire(nodes: Nodes, spec_edges: Sequence[SpecEdge], before: Mapping[str, Any], faults: Faults) -> list[JsonValue]:
    """Return the edges, and set the inputs that they fill; invalid ones become faults.

    References that stand in inputs become edges too. An edge that was there before stays the object that it was.
    """
    drawable = [spec_edge for spec_edge in spec_edges if spec_edge.source in nodes and spec_edge.target in nodes]
    # Of the other edges, the other end is what is wrong.
    faults.places.update(spec_edge.target for spec_edge in spec_edges if spec_edge not in drawable)
    every = [*drawable, *_implied(nodes, drawable)]
    chosen: dict[str, str] = {}
    made: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    filled: dict[tuple[str, str], list[str]] = {}
    for spec_edge in every:
        with faults.part(spec_edge.source, spec_edge.target):
            edge = (
                _agentflow_edge(nodes, spec_edge)
                if _is_agentflow(nodes, spec_edge)
                else _edge(nodes, spec_edge, chosen, filled)
            )
            made[_key(edge)] = edge
    _fill(nodes, filled, by_id(nodes_of(before)), faults)
    held = {_key(edge): edge for edge in edges_of(before)}
    return [held.get(key, edge) for key, edge in made.items()]


def _implied(nodes: Nodes, spec_edges: Sequence[SpecEdge]) -> list[SpecEdge]:
    """Return edges for references in inputs without an explicit edge."""
    named = {(spec_edge.source, spec_edge.target, spec_edge.input) for spec_edge in spec_edges}
    implied: list[SpecEdge] = []
    for node_id, node in nodes.items():
        data = data_of(node)
        if is_agentflow_node(data):
            continue
        taking = {text_of(field.get("name")) for field in [*anchors_of(data), *params_of(data)] if _takes(data, field)}
        for name, value in inputs_of(data).items():
            sources = dict.fromkeys(references(value)) if name in taking else ()
            implied += [
                SpecEdge(source, "", node_id, name)
                for source in sources
                if source in nodes and (source, node_id, name) not in named
            ]
    return implied


def _edge(
    nodes: Nodes, spec_edge: SpecEdge, chosen: dict[str, str], filled: dict[tuple[str, str], list[str]]
) -> dict[str, Any]:
    target = data_of(nodes[spec_edge.target])
    source = data_of(nodes[spec_edge.source])
    taking = _taking(spec_edge, source, target)
    handle = _giving(spec_edge, source, taking, chosen)
    name = text_of(taking.get("name"))
    if taking in anchors_of(target):
        values = filled.setdefault((spec_edge.target, name), [])
        if values and taking.get("list") is not True and spec_edge.source not in values:
            raise BadSpec(
                f"'{spec_edge.target}.{name}' takes one connection and has two.", remedy="Remove one of the edges."
            )
        if spec_edge.source not in values:
            values.append(spec_edge.source)
    else:
        _refer(nodes[spec_edge.target], name, spec_edge, taking)
    return _drawn(
        spec_edge.source, text_of(handle.get("id")), spec_edge.target, text_of(taking.get("id")), "buttonedge"
    )


def _taking(spec_edge: SpecEdge, source: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """The anchor or variable that an edge ends at."""
    places = [field for field in [*anchors_of(target), *params_of(target)] if _takes(target, field)]
    if spec_edge.input:
        field = next((field for field in places if field.get("name") == spec_edge.input), None)
        if field is not None:
            return field
        names = [text_of(field.get("name")) for field in places]
        raise BadSpec(
            f"'{spec_edge.target}' takes no connection at '{spec_edge.input[:80]}'"
            f"{did_you_mean(spec_edge.input, names) or '.'}",
            remedy=f"It takes connections at: {listed(names, most=20)}.",
        )
    outputs = handles_of(source)
    fitting = [anchor for anchor in anchors_of(target) if any(fits(output, anchor) for output in outputs)]
    if len(fitting) == 1:
        return fitting[0]
    raise BadSpec(
        f"It is not clear where '{spec_edge.source}' is connected to '{spec_edge.target}'.",
        remedy=f"Name the input, as '{spec_edge.target}.input'. It takes connections at: "
        f"{listed([text_of(field.get('name')) for field in places], most=20)}.",
    )


def _giving(
    spec_edge: SpecEdge, source: dict[str, Any], taking: Mapping[str, Any], chosen: dict[str, str]
) -> dict[str, Any]:
    """Return the source output of an edge, and select it if the node has several."""
    options, handles = options_of(source), handles_of(source)
    if not handles:
        raise BadSpec(f"'{spec_edge.source}' has no output.")
    if not options:
        return handles[0]
    named = spec_edge.output or chosen.get(spec_edge.source, "")
    if named:
        option = next((option for option in options if option.get("name") == named), None)
        if option is None:
            names = [text_of(option.get("name")) for option in options]
            raise BadSpec(
                f"'{spec_edge.source}' has no output '{named[:80]}'{did_you_mean(named, names) or '.'}",
                remedy=f"It has: {listed(names)}.",
            )
    else:
        set_to = chosen_output(source)
        order = sorted(
            options,
            key=lambda option: (not fits(option, taking), option.get("name") == ENDING, option.get("name") != set_to),
        )
        option = order[0]
    _choose(spec_edge, source, option, chosen)
    return option


def _choose(spec_edge: SpecEdge, source: dict[str, Any], option: Mapping[str, Any], chosen: dict[str, str]) -> None:
    if option.get("isAnchor") is True:
        return
    name = text_of(option.get("name"))
    if chosen.setdefault(spec_edge.source, name) != name:
        raise BadSpec(
            f"'{spec_edge.source}' can use either '{chosen[spec_edge.source]}' or '{name}', not both.",
            remedy="Use a second node of that component for the second output.",
        )
    source["outputs"] = {**(source.get("outputs") or {}), "output": name}


def _refer(node: dict[str, Any], name: str, spec_edge: SpecEdge, taking: Mapping[str, Any]) -> None:
    """A variable is filled by a reference in its value."""
    inputs = data_of(node).setdefault("inputs", {})
    held = inputs.get(name)
    if spec_edge.source in references(held):
        return
    reference = reference_to(spec_edge.source)
    if held or taking.get("type") == "json":
        raise BadSpec(
            f"'{spec_edge.target}.{name}' does not say what it does with '{spec_edge.source}'.",
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
    made = [reference_to(source) for source in sources]
    return list[JsonValue](made) if _is_list(anchor) else made[0]


def _is_list(anchor: Mapping[str, Any]) -> bool:
    return anchor.get("list") is True


def _takes(data: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return given in anchors_of(data) or given.get("acceptVariable") is True


def _is_agentflow(nodes: Nodes, spec_edge: SpecEdge) -> bool:
    return is_agentflow_node(data_of(nodes[spec_edge.source]))


def _agentflow_edge(nodes: Nodes, spec_edge: SpecEdge) -> dict[str, Any]:
    source, target = data_of(nodes[spec_edge.source]), data_of(nodes[spec_edge.target])
    ends = [text_of(handle.get("id")) for handle in handles_of(source)]
    if not ends:
        raise BadSpec(f"No node can follow '{spec_edge.source}': it ends the flow.", remedy="Remove the edge.")
    names = [handle_id.rpartition("-output-")[2] for handle_id in ends]
    if spec_edge.output and spec_edge.output not in names:
        raise BadSpec(
            f"'{spec_edge.source}' has no output '{spec_edge.output[:80]}'.", remedy=f"It has: {listed(names)}."
        )
    if spec_edge.input:
        raise BadSpec(
            f"'{spec_edge.target}' has no input to connect to.",
            remedy=f"In an AgentflowV2 write 'to': '{spec_edge.target}'.",
        )
    handle = ends[names.index(spec_edge.output)] if spec_edge.output else ends[0]
    edge = _drawn(spec_edge.source, handle, spec_edge.target, spec_edge.target, "agentFlow")
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
    return {id_of(node): node for node in nodes}
