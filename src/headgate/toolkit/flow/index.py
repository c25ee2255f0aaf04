"""A compact index of a flow: every node with its id, type and title, and every edge. Pure.

A model that sees a complete index knows what exists and requests the rest; a model that sees the beginning of a
long text assumes that this is all.
"""

from collections.abc import Callable, Iterator, Sequence

from headgate.foundation.quoting import CUT, shortened
from headgate.graph.frames import members
from headgate.graph.geometry import GROUP_TYPE, boxes
from headgate.graph.mentions import mentions
from headgate.graph.model import Flow, FlowSettings, Node, StepPolicy
from headgate.graph.names import listed
from headgate.graph.spec import print_spec
from headgate.graph.spec_print import changed_members
from headgate.graph.template import Catalog
from headgate.graph.wiring import FLOW_INPUT, Wiring, wire

_LONGEST_TITLE = 60
_HINT = "Values are not shown: read_flow returns them, policies and settings with `part`."
Line = Callable[[Wiring, Node], str]


def canvas_index(flow: Flow, catalog: Catalog, most: int) -> str:
    """Return the flow in at most `most` characters: complete if that fits, else an index of all its nodes and edges.

    If not even the shortest index fits, it ends between two nodes and states how to continue reading.
    """
    text = print_spec(flow)
    if len(text) <= most:
        return text
    wiring = wire(flow, catalog)
    head = _head(flow)
    for line in (_full, _untitled, _bare):
        index = "\n".join([*head, *(line(wiring, node) for node in in_order(wiring))])
        if len(index) <= most:
            return index
    return _as_far_as_fits(wiring, head, most)


def in_order(wiring: Wiring) -> list[Node]:
    """Return every node once: steps in execution order, then configuration nodes, then notes."""
    first = dict.fromkeys([*wiring.order, *wiring.configuration, *wiring.nodes])
    placed = {key: number for number, key in enumerate(wiring.nodes)}
    steps = {key: number for number, key in enumerate(wiring.order)}
    ordered = sorted(first, key=lambda key: (key in wiring.notes, key not in steps, steps.get(key, placed[key])))
    return [wiring.nodes[key] for key in ordered]


def node_line(node: Node) -> str:
    """Return a node's id, type and title."""
    title = node.label or (str(node.params.get("title", "")) if node.type == GROUP_TYPE else "")
    return f'{node.id}: {node.type} "{shortened(title, _LONGEST_TITLE)}"' if title else f"{node.id}: {node.type}"


def references_of(wiring: Wiring, node: Node) -> Iterator[str]:
    """Return the references of a node, a line per field and step."""
    lines = {
        f"{node.id}.{mention.field} reads {{{{{'.'.join(mention.reference.path[:2])}}}}}": None
        for mention in mentions(node, wiring.templates[node.id])
        if mention.reference.root != FLOW_INPUT
    }
    yield from lines


def group_members(flow: Flow, catalog: Catalog) -> dict[str, list[str]]:
    """Map each group to the ids of its nodes."""
    placed = {node.id: box for node, box in zip(flow.nodes, boxes(flow, catalog), strict=True)}
    return members(flow.nodes, placed)


def _head(flow: Flow) -> list[str]:
    parts = [f"{len(flow.nodes)} nodes, {len(flow.edges)} edges"]
    parts += _named("form", [field.id for field in flow.form])
    parts += _named("policies", [node.id for node in flow.nodes if node.policy != StepPolicy()])
    parts += _named("settings", list(changed_members(flow.settings, FlowSettings())))
    return [f"{shortened(flow.name, 80)}: {'; '.join(parts)}. {_HINT}"]


def _named(what: str, names: Sequence[str]) -> list[str]:
    return [f"{what}: {listed(names, most=12)}"] if names else []


def _full(wiring: Wiring, node: Node) -> str:
    edges = [
        f"{edge_wire.edge.output} -> {edge_wire.edge.target}.{edge_wire.edge.input}"
        for edge_wire in wiring.leaving[node.id]
    ]
    edges += [f"read by {reader}" for reader, sources in wiring.implied.items() if node.id in sources]
    return f"{node_line(node)} | {', '.join(edges)}" if edges else node_line(node)


def _untitled(wiring: Wiring, node: Node) -> str:
    edges = [
        f"{edge_wire.edge.output}>{edge_wire.edge.target}.{edge_wire.edge.input}"
        for edge_wire in wiring.leaving[node.id]
    ]
    return _joined(node, [*edges, *_readers(wiring, node)])


def _bare(wiring: Wiring, node: Node) -> str:
    targets = dict.fromkeys(edge_wire.edge.target for edge_wire in wiring.leaving[node.id])
    return _joined(node, [*targets, *_readers(wiring, node)])


def _readers(wiring: Wiring, node: Node) -> list[str]:
    return [f"~{reader}" for reader, sources in wiring.implied.items() if node.id in sources]


def _joined(node: Node, targets: Sequence[str]) -> str:
    return f"{node.id}:{node.type} > {', '.join(targets)}" if targets else f"{node.id}:{node.type}"


def _as_far_as_fits(wiring: Wiring, head: list[str], most: int) -> str:
    nodes, lines = in_order(wiring), [*head]
    room = most - sum(len(line) + 1 for line in head) - 120
    for number, node in enumerate(nodes):
        line = _bare(wiring, node)
        room -= len(line) + 1
        if room < 0:
            after = nodes[number - 1].id if number else ""
            rest = f"{len(nodes) - number} more nodes: read_flow with after='{after}' continues."
            return "\n".join([*lines, rest]) + CUT
        lines.append(line)
    return "\n".join(lines)
