"""Checks of a chatflow's edges and end. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.agents.codev.domain import Fault
from headgate.agents.codev.domains.flowise.drawn import (
    anchors_of,
    chosen_output,
    fits,
    handles_of,
    inputs_of,
    is_agentflow_node,
    options_of,
    params_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.agents.codev.domains.flowise.spec import references
from headgate.agents.codev.domains.flowise.wiring import ENDING

ENDING_CATEGORIES = frozenset({"Chains", "Agents", "Engine", "Multi Agents", "Sequential Agents"})
Flow = Mapping[str, Mapping[str, Any]]
"""`data` of nodes by id."""
_AGAIN = "Connect the nodes again."


def edge_faults(there: Flow, edges: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    """Ends and handles that do not exist, classes that do not fit, references that are not there."""
    for edge in edges:
        source, target = text_of(edge.get("source")), text_of(edge.get("target"))
        where = f"{one_line(source, 60) or '?'} -> {one_line(target, 60) or '?'}"
        lacking = [node_id for node_id in (source, target) if node_id not in there]
        for node_id in lacking:
            yield Fault(where, f"There is no node '{one_line(node_id, 60)}'.", "Remove the edge, or add the node.")
        if lacking:
            continue
        if is_agentflow_node(there[source]):
            yield from _agentflow_edge_faults(where, edge, there[source], target)
        else:
            yield from _handle_faults(where, edge, there[source], there[target])


def ending_faults(flow: Flow, edges: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    """Check the end: Flowise answers with its last node, which has incoming and no outgoing edges."""
    followed = {text_of(edge.get("source")) for edge in edges}
    reached = {text_of(edge.get("target")) for edge in edges}
    ends = [node_id for node_id in flow if node_id not in followed and (node_id in reached or len(flow) == 1)]
    if not ends:
        yield Fault(
            "", "The flow has no end: a node that others are connected to and that nothing follows.",
            "Connect the nodes to a chain, an agent, or a function set to EndingNode."
        )  # fmt: skip
        return
    reasons = {node_id: _ending_reason(flow[node_id]) for node_id in ends}
    if all(reasons.values()):
        for node_id, reason in reasons.items():
            yield Fault(node_id, f"It is the end of the flow and {reason}", "End with a chain, an agent, or a function "
                        f"whose output is {ENDING}.")  # fmt: skip


def _ending_reason(data: Mapping[str, Any]) -> str:
    """Return why a node cannot be the end; empty when it can."""
    if chosen_output(data) == ENDING:
        return ""
    if data.get("category") not in ENDING_CATEGORIES:
        return "is not a chain, agent or engine."
    if options_of(data) and chosen_output(data) != data.get("name"):
        return f"is set to the output '{one_line(chosen_output(data), 60)}', not to '{one_line(data.get('name'), 60)}'."
    return ""


def _agentflow_edge_faults(
    where: str, edge: Mapping[str, Any], source: Mapping[str, Any], target: str
) -> Iterator[Fault]:
    if edge.get("sourceHandle") not in {handle.get("id") for handle in handles_of(source)}:
        yield Fault(where, "Its source handle is not an output of the node.", _AGAIN)
    if edge.get("targetHandle") != target:
        yield Fault(where, "Its target handle must be the id of the node.", _AGAIN)


def _handle_faults(
    where: str, edge: Mapping[str, Any], source: Mapping[str, Any], target: Mapping[str, Any]
) -> Iterator[Fault]:
    giving = next((handle for handle in handles_of(source) if handle.get("id") == edge.get("sourceHandle")), None)
    anchors = anchors_of(target)
    variables = [param for param in params_of(target) if param.get("acceptVariable") is True]
    taking = next((anchor for anchor in [*anchors, *variables] if anchor.get("id") == edge.get("targetHandle")), None)
    if giving is None:
        yield Fault(where, "Its source handle is not an output of the node.", _AGAIN)
    if taking is None:
        yield Fault(where, "Its target handle is not an input of the node that takes connections.", _AGAIN)
    if giving is None or taking is None:
        return
    if taking in anchors and not fits(giving, taking):
        yield Fault(
            where, (f"'{one_line(taking.get('name'), 60)}' takes {one_line(taking.get('type'), 100)}, but the "
                   f"connected output is {one_line(giving.get('type'), 100)}."), "Connect a node of a class it accepts."
        )  # fmt: skip
    if options_of(source) and giving.get("isAnchor") is not True and chosen_output(source) != giving.get("name"):
        yield Fault(where, f"The node is set to its output '{one_line(chosen_output(source), 60)}', not to this one.",
                    f"Set its 'output' to '{one_line(giving.get('name'), 60)}'.")  # fmt: skip
    name = text_of(taking.get("name"))
    if text_of(edge.get("source")) not in references(inputs_of(target).get(name)):
        yield Fault(where, f"The input '{name}' does not refer to the node: Flowise would run without it.", _AGAIN)
