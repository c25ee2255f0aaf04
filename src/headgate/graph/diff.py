"""Differences between two flows: nodes, values, edges, form, settings.

Positions are ignored. A node with only a new id is reported as renamed, and references that follow the new id are not
reported.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.graph.canonical import canonical_json
from headgate.graph.mentions import rename_paths, root_paths
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.value_changes import ValueChange, flow_changes, node_changes

_SOMEONE = "renamed"
"""Placeholder for added or removed nodes while detecting renames."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that is in both flows and differs."""

    id: str
    """Its id in the later flow."""
    renamed_from: str
    """Its id in the earlier flow when it differs, else empty."""
    changes: tuple[ValueChange, ...]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the change as a JSON object."""
        document: dict[str, JsonValue] = {"id": self.id, "changes": [change.as_json() for change in self.changes]}
        return document | ({"renamed_from": self.renamed_from} if self.renamed_from else {})


@dataclass(frozen=True, slots=True)
class FlowDiff:
    """All changes, in the order of the flows."""

    nodes_added: tuple[Node, ...] = ()
    nodes_removed: tuple[Node, ...] = ()
    nodes_changed: tuple[NodeChange, ...] = ()
    edges_added: tuple[Edge, ...] = ()
    edges_removed: tuple[Edge, ...] = ()
    flow_changes: tuple[ValueChange, ...] = ()
    """Name, description, form and settings."""
    reordered: tuple[str, ...] = ()
    """`nodes` when the common nodes have a different order (aliases depend on it), `edges` likewise."""

    @property
    def is_empty(self) -> bool:
        """Return whether only positions changed."""
        return self == FlowDiff()

    def lines(self) -> list[str]:
        """Return one line per change, `+` added, `-` removed, `~` changed."""
        texts = [f"+ node '{node.id}' ({node.type})" for node in self.nodes_added]
        texts += [f"- node '{node.id}' ({node.type})" for node in self.nodes_removed]
        for node in self.nodes_changed:
            if node.renamed_from:
                texts.append(f"~ node '{node.renamed_from}' is now '{node.id}'")
            texts += [f"~ node '{node.id}' {change}" for change in node.changes]
        texts += [f"+ edge {edge.id}" for edge in self.edges_added]
        texts += [f"- edge {edge.id}" for edge in self.edges_removed]
        texts += [f"~ {change}" for change in self.flow_changes]
        return texts + [f"~ order of the {part}" for part in self.reordered]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the diff as a JSON object without empty members."""
        members: dict[str, JsonValue] = {
            "nodes_added": [_summary(node) for node in self.nodes_added],
            "nodes_removed": [_summary(node) for node in self.nodes_removed],
            "nodes_changed": [node.as_json() for node in self.nodes_changed],
            "edges_added": [edge.id for edge in self.edges_added],
            "edges_removed": [edge.id for edge in self.edges_removed],
            "flow_changes": [change.as_json() for change in self.flow_changes],
            "reordered": list(self.reordered),
        }
        return {name: value for name, value in members.items() if value}


def diff_flows(before: Flow, after: Flow) -> FlowDiff:
    """Return the changes from `before` to `after`; of nodes that share an id only the first counts."""
    old, new = _by_id(before.nodes), _by_id(after.nodes)
    renamed = _renamed(before, after, old, new)
    paths = root_paths(renamed)
    renamed_nodes = {renamed.get(key, key): rename_paths(node, paths) for key, node in old.items()}
    original_ids = {to: was for was, to in renamed.items()}
    changed = []
    for key, node in new.items():
        if key in renamed_nodes:
            changes = node_changes(renamed_nodes[key], node)
            if changes or key in original_ids:
                changed.append(NodeChange(key, original_ids.get(key, ""), changes))
    old_edges, new_edges = [_moved(edge, renamed) for edge in before.edges], list(after.edges)
    kept_nodes = [key for key in renamed_nodes if key in new], [key for key in new if key in renamed_nodes]
    kept_before, removed = _shared(old_edges, new_edges)
    kept_after, added = _shared(new_edges, old_edges)
    return FlowDiff(
        nodes_added=tuple(node for key, node in new.items() if key not in renamed_nodes),
        nodes_removed=tuple(node for key, node in old.items() if renamed.get(key, key) not in new),
        nodes_changed=tuple(changed),
        edges_added=tuple(added),
        edges_removed=tuple(removed),
        flow_changes=flow_changes(before, after),
        reordered=("nodes",) * (kept_nodes[0] != kept_nodes[1]) + ("edges",) * (kept_before != kept_after),
    )


def is_replaced(before: Flow, after: Flow) -> bool:
    """Return whether a flow was replaced: less than half of its nodes remain, by id and type."""
    left = {(node.id, node.type) for node in before.nodes} & {(node.id, node.type) for node in after.nodes}
    return 2 * len(left) < len(before.nodes)


def _renamed(before: Flow, after: Flow, old: Mapping[str, Node], new: Mapping[str, Node]) -> dict[str, str]:
    """Return old id to new id of nodes that are otherwise equal."""
    removed, come = set(old) - set(new), set(new) - set(old)
    if not removed or not come:
        return {}
    candidates: dict[str, list[str]] = defaultdict(list)
    for key, print_ in _fingerprints(after, new, come, removed | come).items():
        candidates[print_].append(key)
    pairs: dict[str, str] = {}
    for key, print_ in _fingerprints(before, old, removed, removed | come).items():
        if candidates[print_]:
            pairs[key] = candidates[print_].pop(0)
    return pairs


def _fingerprints(flow: Flow, nodes: Mapping[str, Node], chosen: set[str], anonymous: set[str]) -> dict[str, str]:
    """Return a text for each selected node that is equal for equal nodes, regardless of anonymous ids."""
    roots = dict.fromkeys(anonymous, _SOMEONE)
    paths = root_paths(roots)
    ends: dict[str, list[str]] = defaultdict(list)
    for edge in flow.edges:
        if edge.source in chosen:
            ends[edge.source].append(f"{edge.output} -> {roots.get(edge.target, edge.target)}.{edge.input}")
        if edge.target in chosen:
            ends[edge.target].append(f"{roots.get(edge.source, edge.source)}.{edge.output} -> {edge.input}")
    nodes_by_print: dict[str, str] = {}
    for key, node in nodes.items():
        if key in chosen:
            plain = rename_paths(node, paths).model_dump(mode="json", exclude={"id", "position", "label"})
            nodes_by_print[key] = canonical_json({"node": plain, "ends": list[JsonValue](sorted(ends[key]))})
    return nodes_by_print


def _by_id(nodes: Iterable[Node]) -> dict[str, Node]:
    nodes_by_id: dict[str, Node] = {}
    for node in nodes:
        nodes_by_id.setdefault(node.id, node)
    return nodes_by_id


def _moved(edge: Edge, renamed: Mapping[str, str]) -> Edge:
    if edge.source not in renamed and edge.target not in renamed:
        return edge
    ends = {"source": renamed.get(edge.source, edge.source), "target": renamed.get(edge.target, edge.target)}
    return edge.model_copy(update=ends)


def _shared(edges: Sequence[Edge], others: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    """Return the edges that `others` has too, and those it does not have, counting duplicates."""
    remaining = Counter(others)
    shared: list[Edge] = []
    extra: list[Edge] = []
    for edge in edges:
        (shared if remaining[edge] > 0 else extra).append(edge)
        remaining[edge] -= 1
    return shared, extra


def _summary(node: Node) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {"id": node.id, "type": node.type}
    return document | ({"label": node.label} if node.label else {})
