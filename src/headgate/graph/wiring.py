"""A flow with resolved edges: steps, configuration nodes, and the running order.

Built once, in time linear in nodes and edges, and used by the validator, the compiler, the layout and the drawings.
Works without a catalog too (types unknown): then outputs named `model`, `tool` and `tools` count as configuration.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.graph.mentions import mentions
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.ports import CONFIGURATION_TYPES, PortType
from headgate.graph.template import TOOL_OUTPUT, Catalog, Template

NOTE_TYPE = "Note"
FLOW_INPUT = "flow_input"
RESERVED_IDS = frozenset({FLOW_INPUT, "constructor"})
"""Reserved node ids: the run's own input, and members of every JavaScript object."""
"""Root of the run's own input in `{{...}}`; no node may be called so."""
MAIN_OUTPUT = "output"
"""Name of a step's main output in references, whatever the component calls it."""
FILE_IDS = "file_ids"
"""Name of a step's file ids in references, joined by commas (seed 002, build_context)."""
_BY_NAME = {TOOL_OUTPUT: PortType.TOOL, "tools": PortType.TOOL, "model": PortType.MODEL}


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge between two existing nodes, with the type of its output."""

    edge: Edge
    type: PortType | None
    """None when the output is unknown."""

    @property
    def configures(self) -> bool:
        """Return whether it carries a model or a tool rather than data."""
        return self.type in CONFIGURATION_TYPES


@dataclass(frozen=True, slots=True)
class Wiring:
    """The resolved flow. Of nodes that share an id only the first is included; edges to missing nodes are skipped."""

    flow: Flow
    nodes: Mapping[str, Node]
    templates: Mapping[str, Template | None]
    arriving: Mapping[str, Sequence[Wire]]
    leaving: Mapping[str, Sequence[Wire]]
    notes: frozenset[str]
    configuration: frozenset[str]
    """Nodes whose every outgoing edge carries a model or a tool."""
    steps: tuple[str, ...]
    """Ids of the steps in the flow's node order."""
    parents: Mapping[str, tuple[str, ...]]
    """Step to the steps whose data it uses, each once, in node order: over an edge, or by a reference (`implied`)."""
    children: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]
    """Steps, parents before children, ties in node order. Shorter than `steps` when there is a cycle."""
    implied: Mapping[str, tuple[str, ...]]
    """Step to those of its parents that only a reference such as `{{page.text}}` names, without an edge."""

    @property
    def aliases(self) -> dict[str, str]:
        """Return `step_1` to the id of the first step, and so on."""
        return {f"step_{number}": step for number, step in enumerate(self.order, start=1)}

    def step_named(self, root: str, aliases: Mapping[str, str]) -> str | None:
        """Return the step of the first word of a reference: a node id, else an alias."""
        return root if root in self.nodes else aliases.get(root)

    def attachments(self, node_id: str) -> list[Wire]:
        """Model and tool wires into a node."""
        return [wire for wire in self.arriving[node_id] if wire.configures]

    def data_into(self, node_id: str) -> list[Wire]:
        """Data wires into a node, in edge order."""
        return [wire for wire in self.arriving[node_id] if not wire.configures]


def wire(flow: Flow, catalog: Catalog | None = None) -> Wiring:
    """Resolve a flow; never fails, whatever its faults."""
    nodes: dict[str, Node] = {}
    for node in flow.nodes:
        nodes.setdefault(node.id, node)
    templates = {key: _template(node, catalog) if catalog else None for key, node in nodes.items()}
    arriving: dict[str, list[Wire]] = {key: [] for key in nodes}
    leaving: dict[str, list[Wire]] = {key: [] for key in nodes}
    for edge in flow.edges:
        if edge.source in nodes and edge.target in nodes:
            edge_wire = Wire(edge, output_type(templates[edge.source], edge.output))
            arriving[edge.target].append(edge_wire)
            leaving[edge.source].append(edge_wire)
    notes = frozenset(key for key, node in nodes.items() if _is_note(node, templates[key]))
    configuration = frozenset(
        key for key, wires in leaving.items() if wires and all(edge_wire.configures for edge_wire in wires)
    )
    steps = tuple(key for key in nodes if key not in configuration and key not in notes)
    parents, children = _step_links(steps, leaving)
    order = topological(steps, parents, children)
    resolved = Wiring(
        flow, nodes, templates, arriving, leaving, notes, configuration - notes, steps, parents, children, order, {}
    )
    return _with_implied(resolved)


def configured_steps(wiring: Wiring, key: str) -> list[str]:
    """Return the steps that a configuration node configures, including nested ones."""
    reached: dict[str, None] = {}
    waiting = [key]
    while waiting:
        for wire in wiring.leaving[waiting.pop()]:
            if wire.configures and wire.edge.target not in reached:
                reached[wire.edge.target] = None
                waiting.append(wire.edge.target)
    members = set(wiring.steps)
    return [step for step in reached if step in members]


def _with_implied(wiring: Wiring) -> Wiring:
    """Return the wiring with the order that references imply.

    A reference adds no link when edges already order the steps, and none that would create a cycle: of two steps that
    refer to each other the first in node order comes second, and the other reference is a fault.
    """
    named_steps = list(_named_steps(wiring))
    if not named_steps or len(wiring.order) < len(wiring.steps):
        return wiring
    bits, masks = ancestor_masks(wiring)
    implied: dict[str, dict[str, None]] = {}
    for source, reader in named_steps:
        if masks[reader] & bits[source] or masks[source] & bits[reader]:
            continue
        implied.setdefault(reader, {})[source] = None
        for step in wiring.steps:
            if step == reader or masks[step] & bits[reader]:
                masks[step] |= masks[source] | bits[source]
    return _linked(wiring, implied) if implied else wiring


def _named_steps(wiring: Wiring) -> Iterator[tuple[str, str]]:
    """Yield each step that a reference names by its id, with the referring step; aliases are skipped."""
    members = set(wiring.steps)
    for key, node in wiring.nodes.items():
        if key in wiring.notes:
            continue
        roots = dict.fromkeys(mention.reference.root for mention in mentions(node, wiring.templates[key]))
        sources = [root for root in roots if root in members]
        if sources:
            readers = configured_steps(wiring, key) if key in wiring.configuration else [key]
            yield from ((source, reader) for source in sources for reader in readers if source != reader)


def _linked(wiring: Wiring, implied: Mapping[str, Mapping[str, None]]) -> Wiring:
    children = {step: dict.fromkeys(following) for step, following in wiring.children.items()}
    parents: dict[str, tuple[str, ...]] = {}
    for reader in wiring.steps:
        sources = implied.get(reader, {})
        for source in sources:
            children[source][reader] = None
        every = {*wiring.parents[reader], *sources}
        parents[reader] = tuple(step for step in wiring.steps if step in every) if sources else wiring.parents[reader]
    listed = {step: tuple(following) for step, following in children.items()}
    return replace(
        wiring,
        parents=parents,
        children=listed,
        order=topological(wiring.steps, parents, listed),
        implied={reader: tuple(sources) for reader, sources in implied.items()},
    )


def _template(node: Node, catalog: Catalog) -> Template | None:
    """Return the node's template, with the additional outputs of its policy."""
    template = catalog.template(node.type, node.params)
    if template and node.policy.makes_document:
        template = template.with_document(node.policy.output_type)
    return template.with_error() if template and node.policy.has_error_output else template


def output_type(template: Template | None, output: str) -> PortType | None:
    """The port type of a node's output, the virtual output `tool` included; None when there is no such output."""
    if template is None:
        return _BY_NAME.get(output)
    port = template.output(output)
    if port is not None:
        return port.type
    return PortType.TOOL if output == TOOL_OUTPUT and can_be_tool(template) else None


def can_be_tool(template: Template) -> bool:
    """Return whether an agent may call this component: it has a field that an agent fills."""
    return any(field.tool_mode for field in template.fields)


def output_names(template: Template) -> list[str]:
    """Return every output that an edge may use, the virtual `tool` last."""
    names = [output.name for output in template.outputs]
    return [*names, TOOL_OUTPUT] if can_be_tool(template) and TOOL_OUTPUT not in names else names


def topological(
    nodes: Sequence[str], parents: Mapping[str, Sequence[str]], children: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return parents before children, ties in the given order; nodes on or after a cycle are omitted."""
    positions = {node: number for number, node in enumerate(nodes)}
    waiting = {node: len(parents[node]) for node in nodes}
    ready = [positions[node] for node in nodes if waiting[node] == 0]
    order: list[str] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, positions[child])
    return tuple(order)


def by_attachment(wiring: Wiring) -> tuple[str, ...]:
    """Return every node, attachments first; shorter when attachments form a cycle."""
    into = {key: [wire.edge.source for wire in wiring.attachments(key)] for key in wiring.nodes}
    out = {
        key: [edge_wire.edge.target for edge_wire in wiring.leaving[key] if edge_wire.configures]
        for key in wiring.nodes
    }
    return topological(tuple(wiring.nodes), into, out)


def attachment_counts(wiring: Wiring) -> dict[str, int]:
    """The number of models and tools attached to each node, nested ones included, shared ones counted each time."""
    counts: dict[str, int] = {}
    for key in by_attachment(wiring):
        counts[key] = sum(1 + counts[wire.edge.source] for wire in wiring.attachments(key))
    return counts


def find_cycle(nodes: Iterable[str], children: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the nodes of one cycle in order; empty when there is none."""
    finished: set[str] = set()
    for start in nodes:
        path: dict[str, None] = {}
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                finished.add(node)
                del path[node]
            elif node in path:
                walked = list(path)
                return walked[walked.index(node) :]
            elif node not in finished:
                path[node] = None
                stack.append((node, True))
                stack.extend((child, False) for child in children[node])
    return []


def ancestor_masks(wiring: Wiring) -> tuple[dict[str, int], dict[str, int]]:
    """Return the bit of each step, and for each step the bits of all steps before it. Steps on a cycle have none."""
    bits = {step: 1 << number for number, step in enumerate(wiring.order)}
    masks: dict[str, int] = dict.fromkeys(wiring.nodes, 0)
    for step in wiring.order:
        for parent in wiring.parents[step]:
            masks[step] |= masks[parent] | bits[parent]
    return bits, masks


def _is_note(node: Node, template: Template | None) -> bool:
    return template.annotation if template is not None else node.type == NOTE_TYPE


def _step_links(
    steps: Sequence[str], leaving: Mapping[str, Sequence[Wire]]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    members = set(steps)
    parents: dict[str, dict[str, None]] = {step: {} for step in steps}
    children: dict[str, dict[str, None]] = {step: {} for step in steps}
    for step in steps:
        for wire in leaving[step]:
            target = wire.edge.target
            if not wire.configures and target in members:
                children[step][target] = None
    for step in steps:
        for child in children[step]:
            parents[child][step] = None
    return {key: tuple(value) for key, value in parents.items()}, {key: tuple(value) for key, value in children.items()}
