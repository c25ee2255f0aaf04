"""Checks of nodes and edges."""

from collections import Counter
from collections.abc import Iterator

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Edge, Node
from headgate.graph.names import did_you_mean, listed, nearest
from headgate.graph.own_code import own_code_issues
from headgate.graph.ports import CONFIGURATION_TYPES, accepts, converter
from headgate.graph.template import ERROR_OUTPUT, Catalog, FieldTemplate, Template
from headgate.graph.wiring import (
    FLOW_INPUT,
    RESERVED_IDS,
    Wiring,
    attachment_counts,
    find_cycle,
    output_names,
    output_type,
)

MAX_ATTACHMENTS = 200
"""Maximum models and tools of one step, including nested ones."""


_RESERVED = {
    FLOW_INPUT: "references use it for the run's input",
    "constructor": "it is reserved in browsers",
}


def node_issues(wiring: Wiring, catalog: Catalog) -> Iterator[Issue]:
    """Yield duplicate or reserved ids, unknown types, and code that does not belong to its node."""
    for node_id, count in Counter(node.id for node in wiring.flow.nodes).items():
        if count > 1:
            yield Issue(
                IssueCode.DUPLICATE_NODE,
                f"{count} nodes have the id '{node_id}'.",
                "Give each node its own id.",
                node=node_id,
            )
    for node in wiring.nodes.values():
        if node.id in RESERVED_IDS:
            yield Issue(
                IssueCode.RESERVED_ID,
                f"no node can have the id '{node.id}': {_RESERVED[node.id]}.",
                "Choose another id.",
                node=node.id,
            )
        if wiring.templates[node.id] is None and node.code is None:
            yield unknown_type(node.type, catalog, node.id)
    yield from own_code_issues(wiring.flow, catalog)


def unknown_type(type_: str, catalog: Catalog, node_id: str = "") -> Issue:
    """Return the issue of a component type that does not exist."""
    types = catalog.types()
    suggestion = nearest(type_, types)
    prefix = f"node '{node_id}': " if node_id else ""
    hint = f"; did you mean '{suggestion}'?" if suggestion else "."
    remedy = (
        f"Use '{suggestion}', or search the components." if suggestion else f"Known types: {listed(types, most=40)}."
    )
    return Issue(IssueCode.UNKNOWN_TYPE, f"{prefix}there is no component '{type_}'{hint}", remedy, node=node_id)


def edge_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield edges with missing ends, incompatible types, duplicates, and second edges into a single-edge input."""
    seen: set[Edge] = set()
    taken: dict[tuple[str, str], Edge] = {}
    for edge in wiring.flow.edges:
        issue = edge_issue(wiring, edge)
        if issue is None and edge in seen:
            issue = Issue(
                IssueCode.DUPLICATE_EDGE, f"the edge {edge.id} occurs twice.", "Remove one.", edge.target, edge=edge.id
            )
        if issue is None:
            issue = crowding_issue(wiring, edge, taken)
        if issue is not None:
            yield issue
        seen.add(edge)
        taken.setdefault((edge.target, edge.input), edge)


def edge_issue(wiring: Wiring, edge: Edge) -> Issue | None:
    """Return the fault of one edge by itself, if any. Nodes of unknown type are reported by `node_issues`."""
    for end in (edge.source, edge.target):
        if end not in wiring.nodes:
            hint = did_you_mean(end, wiring.nodes) or "."
            return Issue(
                IssueCode.UNKNOWN_NODE,
                f"edge {edge.id}: there is no node '{end}'{hint}",
                f"Nodes: {listed(wiring.nodes)}.",
                edge=edge.id,
            )
    if edge.source == edge.target:
        return Issue(
            IssueCode.SELF_EDGE,
            f"edge {edge.id}: a node cannot feed itself.",
            "Remove the edge, or put a step between.",
            edge.source,
            edge=edge.id,
        )
    source, target = wiring.templates[edge.source], wiring.templates[edge.target]
    if source is None or target is None:
        return None
    return _output_issue(wiring.nodes[edge.source], source, edge) or _input_issue(
        wiring.nodes[edge.target], source, target, edge
    )


def crowding_issue(wiring: Wiring, edge: Edge, taken: dict[tuple[str, str], Edge]) -> Issue | None:
    """Return the issue of a second edge into a single-edge input."""
    template = wiring.templates.get(edge.target)
    field = template.field(edge.input) if template else None
    first = taken.get((edge.target, edge.input))
    if field is None or field.many or first is None:
        return None
    return Issue(
        IssueCode.OCCUPIED_INPUT,
        f"input '{edge.input}' of {named(wiring.nodes[edge.target])} takes one edge and already has {first.id}.",
        f"Remove one of the two, or join them with a Merge or CombineText node before '{edge.target}'.",
        edge.target,
        edge.input,
        edge.id,
    )


def _output_issue(node: Node, template: Template, edge: Edge) -> Issue | None:
    if output_type(template, edge.output) is not None:
        return None
    names = output_names(template)
    hint = did_you_mean(edge.output, names) or "."
    remedy = f"'{node.id}' has no outputs; remove the edge."
    if edge.output == ERROR_OUTPUT:
        remedy = f"Set on_error to error_edge in the policy of '{node.id}', which adds it, or remove the edge."
    elif names:
        remedy = f"Start the edge at one of the outputs of '{node.id}'."
    return Issue(
        IssueCode.UNKNOWN_OUTPUT,
        f"{named(node)} has no output '{edge.output}'{hint} Outputs: {listed(names)}.",
        remedy,
        node.id,
        edge.output,
        edge.id,
    )


def _input_issue(node: Node, source: Template, target: Template, edge: Edge) -> Issue | None:
    field = target.field(edge.input)
    if field is None or not field.types:
        return _unknown_input(node, target, field, edge)
    leaving = output_type(source, edge.output)
    if leaving is None or accepts(leaving, field.types):
        return None
    accepted = listed(field.types)
    between = converter(leaving, field.types)
    if leaving in CONFIGURATION_TYPES:
        remedy = f"Outputs of type {leaving} can only be connected to inputs of type {leaving}."
    elif between:
        remedy = f"Put a {between} node between '{edge.source}' and '{edge.target}'."
    else:
        remedy = f"Connect an output of type {accepted}."
    return Issue(
        IssueCode.TYPE_MISMATCH,
        (
            f"edge {edge.id}: '{edge.output}' has type {leaving}, but input '{edge.input}' of {named(node)} "
            f"takes {accepted}."
        ),
        remedy,
        node.id,
        edge.input,
        edge.id,
    )


def _unknown_input(node: Node, target: Template, field: FieldTemplate | None, edge: Edge) -> Issue:
    names = [port.name for port in target.ports]
    if field is not None:
        message = f"field '{edge.input}' of {named(node)} cannot be connected."
        return Issue(
            IssueCode.UNKNOWN_INPUT,
            f"{message} Inputs: {listed(names)}.",
            f"Set '{edge.input}' as a value; {{{{{edge.source}.{edge.output}}}}} in it inserts the output.",
            node.id,
            edge.input,
            edge.id,
        )
    hint = did_you_mean(edge.input, names) or "."
    return Issue(
        IssueCode.UNKNOWN_INPUT,
        f"{named(node)} has no input '{edge.input}'{hint} Inputs: {listed(names)}.",
        f"Connect the edge to one of the inputs of '{node.id}'."
        if names
        else f"'{node.id}' takes no edges; remove it.",
        node.id,
        edge.input,
        edge.id,
    )


def cycle_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield the first cycle, named as a path. Self edges are reported elsewhere."""
    children = {
        key: [wire.edge.target for wire in wires if wire.edge.target != key] for key, wires in wiring.leaving.items()
    }
    cycle = find_cycle(wiring.nodes, children)
    if cycle:
        last = next(wire.edge for wire in wiring.leaving[cycle[-1]] if wire.edge.target == cycle[0])
        walk = " -> ".join([*cycle, cycle[0]]) if len(cycle) <= 12 else " -> ".join([*cycle[:11], "...", cycle[0]])
        yield Issue(
            IssueCode.CYCLE,
            f"the steps form a cycle: {walk}.",
            f"Remove one of its edges, for example {last.id}. To repeat work over a list use a Map node.",
            cycle[0],
            edge=last.id,
        )


def attachment_issues(wiring: Wiring) -> Iterator[Issue]:
    """Yield nodes with more attached models and tools than a run should build; of nested ones only the first."""
    for key, count in attachment_counts(wiring).items():
        if count > MAX_ATTACHMENTS:
            yield Issue(
                IssueCode.TOO_MANY_ATTACHMENTS,
                f"{named(wiring.nodes[key])} has {count:,} models and tools attached, directly and through others.",
                f"Attach at most {MAX_ATTACHMENTS}.",
                key,
            )
            return


def named(node: Node) -> str:
    """Return `node 'brief' (AIStep)`, as nodes are named in messages."""
    return f"node '{node.id}' ({node.type})"
