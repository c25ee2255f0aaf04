"""A flow with its edges resolved: what is a step, what configures one, and in which order steps run.

Built once, in time linear in nodes and edges, and read by the validator, the compiler, the layout and the drawings.
Works without a catalog too (types unknown): then outputs called `model`, `tool` and `tools` stand for configuration.
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
"""What no node may be called: the run's own input, and what every object of a browser has already."""
"""Root of the run's own input in `{{...}}`; no node may be called so."""
MAIN_OUTPUT = "output"
"""Name under which references find a step's main output, whatever the component calls it."""
FILE_IDS = "file_ids"
"""Name under which references find the ids of the files a step gave, joined by commas (seed 002, build_context)."""
_BY_NAME = {TOOL_OUTPUT: PortType.TOOL, "tools": PortType.TOOL, "model": PortType.MODEL}


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge between two nodes that exist, with the type of the output it leaves."""

    edge: Edge
    type: PortType | None
    """None when the output is unknown."""

    @property
    def configures(self) -> bool:
        """Whether it carries a model or a tool rather than data."""
        return self.type in CONFIGURATION_TYPES


@dataclass(frozen=True, slots=True)
class Wiring:
    """The resolved flow. Of nodes that share an id only the first is here; edges to missing nodes are not."""

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
    """Step to the steps whose data it takes, each once, in node order: over an edge, or by a reference (`implied`)."""
    children: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]
    """Steps, parents before children, ties in node order. Shorter than `steps` when there is a cycle."""
    implied: Mapping[str, tuple[str, ...]]
    """Step to those of its parents that only a reference such as `{{page.text}}` names: no edge is needed for them."""

    @property
    def aliases(self) -> dict[str, str]:
        """`step_1` to the id of the first step, and so on."""
        return {f"step_{number}": step for number, step in enumerate(self.order, start=1)}

    def step_named(self, root: str, aliases: Mapping[str, str]) -> str | None:
        """The step that the first word of a reference means: a node id, else an alias."""
        return root if root in self.nodes else aliases.get(root)

    def attachments(self, node_id: str) -> list[Wire]:
        """Model and tool wires into a node."""
        return [wire for wire in self.arriving[node_id] if wire.configures]

    def data_into(self, node_id: str) -> list[Wire]:
        """Data wires into a node, in edge order."""
        return [wire for wire in self.arriving[node_id] if not wire.configures]


def wire(flow: Flow, catalog: Catalog | None = None) -> Wiring:
    """Resolve a flow; never fails, whatever is wrong with it."""
    nodes: dict[str, Node] = {}
    for node in flow.nodes:
        nodes.setdefault(node.id, node)
    templates = {key: _template(node, catalog) if catalog else None for key, node in nodes.items()}
    arriving: dict[str, list[Wire]] = {key: [] for key in nodes}
    leaving: dict[str, list[Wire]] = {key: [] for key in nodes}
    for edge in flow.edges:
        if edge.source in nodes and edge.target in nodes:
            found = Wire(edge, output_type(templates[edge.source], edge.output))
            arriving[edge.target].append(found)
            leaving[edge.source].append(found)
    notes = frozenset(key for key, node in nodes.items() if _is_note(node, templates[key]))
    configuration = frozenset(key for key, wires in leaving.items() if wires and all(one.configures for one in wires))
    steps = tuple(key for key in nodes if key not in configuration and key not in notes)
    parents, children = _step_links(steps, leaving)
    order = topological(steps, parents, children)
    resolved = Wiring(
        flow, nodes, templates, arriving, leaving, notes, configuration - notes, steps, parents, children, order, {}
    )
    return _with_implied(resolved)


def configured_steps(wiring: Wiring, key: str) -> list[str]:
    """The steps that a configuration node configures, directly or through others."""
    reached: dict[str, None] = {}
    waiting = [key]
    while waiting:
        for one in wiring.leaving[waiting.pop()]:
            if one.configures and one.edge.target not in reached:
                reached[one.edge.target] = None
                waiting.append(one.edge.target)
    members = set(wiring.steps)
    return [step for step in reached if step in members]


def _with_implied(wiring: Wiring) -> Wiring:
    """The wiring with the order that references imply.

    A reference adds no link where edges bring its step before the reader already, and none that would close a circle:
    of two steps that refer to each other the first in node order comes second, and the other reference is a fault.
    """
    named = list(_named_steps(wiring))
    if not named or len(wiring.order) < len(wiring.steps):
        return wiring
    bits, masks = ancestor_masks(wiring)
    implied: dict[str, dict[str, None]] = {}
    for source, reader in named:
        if masks[reader] & bits[source] or masks[source] & bits[reader]:
            continue
        implied.setdefault(reader, {})[source] = None
        for step in wiring.steps:
            if step == reader or masks[step] & bits[reader]:
                masks[step] |= masks[source] | bits[source]
    return _linked(wiring, implied) if implied else wiring


def _named_steps(wiring: Wiring) -> Iterator[tuple[str, str]]:
    """Each step that a reference names by its id, with the step that reads it; an alias names none."""
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
    children = {step: dict.fromkeys(found) for step, found in wiring.children.items()}
    parents: dict[str, tuple[str, ...]] = {}
    for reader in wiring.steps:
        sources = implied.get(reader, {})
        for source in sources:
            children[source][reader] = None
        every = {*wiring.parents[reader], *sources}
        parents[reader] = tuple(step for step in wiring.steps if step in every) if sources else wiring.parents[reader]
    listed = {step: tuple(found) for step, found in children.items()}
    return replace(
        wiring,
        parents=parents,
        children=listed,
        order=topological(wiring.steps, parents, listed),
        implied={reader: tuple(sources) for reader, sources in implied.items()},
    )


def _template(node: Node, catalog: Catalog) -> Template | None:
    """The node's template, with the output that its policy adds."""
    found = catalog.template(node.type, node.params)
    return found.with_document(node.policy.output_type) if found and node.policy.makes_document else found


def output_type(template: Template | None, output: str) -> PortType | None:
    """The port type of a node's output, the virtual output `tool` included; None when there is no such output."""
    if template is None:
        return _BY_NAME.get(output)
    found = template.output(output)
    if found is not None:
        return found.type
    return PortType.TOOL if output == TOOL_OUTPUT and can_be_tool(template) else None


def can_be_tool(template: Template) -> bool:
    """Whether an agent may call this component: it has a field that an agent fills."""
    return any(field.tool_mode for field in template.fields)


def output_names(template: Template) -> list[str]:
    """Every output an edge may leave, the virtual `tool` last."""
    names = [output.name for output in template.outputs]
    return [*names, TOOL_OUTPUT] if can_be_tool(template) and TOOL_OUTPUT not in names else names


def topological(
    nodes: Sequence[str], parents: Mapping[str, Sequence[str]], children: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Parents before children, ties in the order given; nodes on or behind a cycle are left out."""
    place = {node: number for number, node in enumerate(nodes)}
    waiting = {node: len(parents[node]) for node in nodes}
    ready = [place[node] for node in nodes if waiting[node] == 0]
    order: list[str] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, place[child])
    return tuple(order)


def by_attachment(wiring: Wiring) -> tuple[str, ...]:
    """Every node, what is attached before what it is attached to; shorter when attachments form a cycle."""
    into = {key: [one.edge.source for one in wiring.attachments(key)] for key in wiring.nodes}
    out = {key: [one.edge.target for one in wiring.leaving[key] if one.configures] for key in wiring.nodes}
    return topological(tuple(wiring.nodes), into, out)


def attachment_counts(wiring: Wiring) -> dict[str, int]:
    """How many models and tools hang on each node, directly or through others, shared ones counted each time."""
    counts: dict[str, int] = {}
    for key in by_attachment(wiring):
        counts[key] = sum(1 + counts[one.edge.source] for one in wiring.attachments(key))
    return counts


def find_cycle(nodes: Iterable[str], children: Mapping[str, Iterable[str]]) -> list[str]:
    """The nodes of one cycle in walking order; empty when there is none."""
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
    """Bit of each step, and for each step the bits of all steps before it. Steps on a cycle have none."""
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
        for one in leaving[step]:
            target = one.edge.target
            if not one.configures and target in members:
                children[step][target] = None
    for step in steps:
        for child in children[step]:
            parents[child][step] = None
    return {key: tuple(value) for key, value in parents.items()}, {key: tuple(value) for key, value in children.items()}
