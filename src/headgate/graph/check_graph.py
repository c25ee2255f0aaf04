"""Checks of nodes and edges: does the graph hold together?"""

from collections import Counter
from collections.abc import Iterator

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Edge, Node
from headgate.graph.names import did_you_mean, listed, nearest
from headgate.graph.own_code import own_code_issues
from headgate.graph.ports import CONFIGURATION_TYPES, accepts, converter
from headgate.graph.template import Catalog, FieldTemplate, Template
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
"""Most models and tools on one step, counted through chains."""


_RESERVED = {
    FLOW_INPUT: "references use it for the run's own input",
    "constructor": "in browsers everything has that already",
}


def node_issues(wiring: Wiring, catalog: Catalog) -> Iterator[Issue]:
    """Ids that occur twice or are reserved, unknown types, and code that does not belong to its node."""
    for node_id, count in Counter(node.id for node in wiring.flow.nodes).items():
        if count > 1:
            yield Issue(
                IssueCode.DUPLICATE_NODE,
                f"{count} nodes are called '{node_id}'.",
                "Give each node its own id.",
                node=node_id,
            )
    for node in wiring.nodes.values():
        if node.id in RESERVED_IDS:
            yield Issue(
                IssueCode.RESERVED_ID,
                f"no node may be called '{node.id}': {_RESERVED[node.id]}.",
                "Choose another id.",
                node=node.id,
            )
        if wiring.templates[node.id] is None and node.code is None:
            yield unknown_type(node.type, catalog, node.id)
    yield from own_code_issues(wiring.flow, catalog)


def unknown_type(type_: str, catalog: Catalog, node_id: str = "") -> Issue:
    """The issue of a component type that does not exist."""
    known = catalog.types()
    found = nearest(type_, known)
    who = f"node '{node_id}': " if node_id else ""
    hint = f"; did you mean '{found}'?" if found else "."
    remedy = f"Use '{found}', or search the components." if found else f"Known types: {listed(known, most=40)}."
    return Issue(IssueCode.UNKNOWN_TYPE, f"{who}there is no component '{type_}'{hint}", remedy, node=node_id)


def edge_issues(wiring: Wiring) -> Iterator[Issue]:
    """Edges that lead nowhere, do not fit, occur twice or crowd an input that takes one."""
    seen: set[Edge] = set()
    taken: dict[tuple[str, str], Edge] = {}
    for edge in wiring.flow.edges:
        found = edge_issue(wiring, edge)
        if found is None and edge in seen:
            found = Issue(
                IssueCode.DUPLICATE_EDGE, f"the edge {edge.id} occurs twice.", "Remove one.", edge.target, edge=edge.id
            )
        if found is None:
            found = crowding_issue(wiring, edge, taken)
        if found is not None:
            yield found
        seen.add(edge)
        taken.setdefault((edge.target, edge.input), edge)


def edge_issue(wiring: Wiring, edge: Edge) -> Issue | None:
    """What is wrong with one edge by itself, if anything. Nodes of unknown type are left to `node_issues`."""
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
    """The issue of a second edge into an input that takes one. `taken`: input to the first edge into it."""
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
    return Issue(
        IssueCode.UNKNOWN_OUTPUT,
        f"{named(node)} has no output '{edge.output}'{hint} Outputs: {listed(names)}.",
        f"Leave '{node.id}' by one of its outputs." if names else f"'{node.id}' has no outputs; remove the edge.",
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
    wanted = listed(field.types)
    between = converter(leaving, field.types)
    if leaving in CONFIGURATION_TYPES:
        remedy = f"{leaving} outputs lead only to inputs that take a {leaving}."
    elif between:
        remedy = f"Put a {between} node between '{edge.source}' and '{edge.target}'."
    else:
        remedy = f"Connect an output of type {wanted}."
    return Issue(
        IssueCode.TYPE_MISMATCH,
        f"edge {edge.id}: '{edge.output}' gives {leaving}, but input '{edge.input}' of {named(node)} takes {wanted}.",
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
            f"Set '{edge.input}' as a value; {{{{{edge.source}.{edge.output}}}}} in it brings the output in.",
            node.id,
            edge.input,
            edge.id,
        )
    hint = did_you_mean(edge.input, names) or "."
    return Issue(
        IssueCode.UNKNOWN_INPUT,
        f"{named(node)} has no input '{edge.input}'{hint} Inputs: {listed(names)}.",
        f"Lead the edge to one of the inputs of '{node.id}'." if names else f"'{node.id}' takes no edges; remove it.",
        node.id,
        edge.input,
        edge.id,
    )


def cycle_issues(wiring: Wiring) -> Iterator[Issue]:
    """The first cycle, named as a path. A self edge is not told again."""
    children = {
        key: [one.edge.target for one in wires if one.edge.target != key] for key, wires in wiring.leaving.items()
    }
    cycle = find_cycle(wiring.nodes, children)
    if cycle:
        last = next(one.edge for one in wiring.leaving[cycle[-1]] if one.edge.target == cycle[0])
        walk = " -> ".join([*cycle, cycle[0]]) if len(cycle) <= 12 else " -> ".join([*cycle[:11], "...", cycle[0]])
        yield Issue(
            IssueCode.CYCLE,
            f"the steps run in a circle: {walk}.",
            f"Remove one of its edges, for example {last.id}. To repeat work over a list use a Map node.",
            cycle[0],
            edge=last.id,
        )


def attachment_issues(wiring: Wiring) -> Iterator[Issue]:
    """Nodes on which more models and tools hang than a run should build; of a chain only the first."""
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
    """`node 'brief' (AIStep)`, as messages call a node."""
    return f"node '{node.id}' ({node.type})"
