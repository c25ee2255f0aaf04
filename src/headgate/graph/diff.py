"""What changed from one flow to another, in the words of flows: nodes, values, edges, form, settings.

Positions do not count. A node that only got another id is told as renamed, and references to it that followed the new
id are no changes.
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
"""Stands for any node that came or went while looking for renamed ones."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that is in both flows and not the same."""

    id: str
    """Its id in the later flow."""
    renamed_from: str
    """Its id in the earlier flow when that was another one, else empty."""
    changes: tuple[ValueChange, ...]

    def as_json(self) -> dict[str, JsonValue]:
        """The change as a JSON object."""
        found: dict[str, JsonValue] = {"id": self.id, "changes": [change.as_json() for change in self.changes]}
        return found | ({"renamed_from": self.renamed_from} if self.renamed_from else {})


@dataclass(frozen=True, slots=True)
class FlowDiff:
    """Everything that changed, in the order of the flows."""

    nodes_added: tuple[Node, ...] = ()
    nodes_removed: tuple[Node, ...] = ()
    nodes_changed: tuple[NodeChange, ...] = ()
    edges_added: tuple[Edge, ...] = ()
    edges_removed: tuple[Edge, ...] = ()
    flow_changes: tuple[ValueChange, ...] = ()
    """Name, description, form and settings."""
    reordered: tuple[str, ...] = ()
    """`nodes` when those in both flows stand in another order (aliases follow it), `edges` likewise."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed but positions."""
        return self == FlowDiff()

    def lines(self) -> list[str]:
        """One line a change, `+` added, `-` removed, `~` changed."""
        found = [f"+ node '{node.id}' ({node.type})" for node in self.nodes_added]
        found += [f"- node '{node.id}' ({node.type})" for node in self.nodes_removed]
        for node in self.nodes_changed:
            if node.renamed_from:
                found.append(f"~ node '{node.renamed_from}' is now '{node.id}'")
            found += [f"~ node '{node.id}' {change}" for change in node.changes]
        found += [f"+ edge {edge.id}" for edge in self.edges_added]
        found += [f"- edge {edge.id}" for edge in self.edges_removed]
        found += [f"~ {change}" for change in self.flow_changes]
        return found + [f"~ order of the {what}" for what in self.reordered]

    def as_json(self) -> dict[str, JsonValue]:
        """The diff as a JSON object; members that are empty are left out."""
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
    """What changed from `before` to `after`; of nodes that share an id only the first counts."""
    old, new = _by_id(before.nodes), _by_id(after.nodes)
    renamed = _renamed(before, after, old, new)
    paths = root_paths(renamed)
    there = {renamed.get(key, key): rename_paths(node, paths) for key, node in old.items()}
    came_from = {to: was for was, to in renamed.items()}
    changed = []
    for key, node in new.items():
        if key in there:
            found = node_changes(there[key], node)
            if found or key in came_from:
                changed.append(NodeChange(key, came_from.get(key, ""), found))
    old_edges, new_edges = [_moved(edge, renamed) for edge in before.edges], list(after.edges)
    kept_nodes = [key for key in there if key in new], [key for key in new if key in there]
    kept_before, removed = _shared(old_edges, new_edges)
    kept_after, added = _shared(new_edges, old_edges)
    return FlowDiff(
        nodes_added=tuple(node for key, node in new.items() if key not in there),
        nodes_removed=tuple(node for key, node in old.items() if renamed.get(key, key) not in new),
        nodes_changed=tuple(changed),
        edges_added=tuple(added),
        edges_removed=tuple(removed),
        flow_changes=flow_changes(before, after),
        reordered=("nodes",) * (kept_nodes[0] != kept_nodes[1]) + ("edges",) * (kept_before != kept_after),
    )


def is_replaced(before: Flow, after: Flow) -> bool:
    """Whether a flow is another one now: less than half of its nodes are left, by id and type."""
    left = {(node.id, node.type) for node in before.nodes} & {(node.id, node.type) for node in after.nodes}
    return 2 * len(left) < len(before.nodes)


def _renamed(before: Flow, after: Flow, old: Mapping[str, Node], new: Mapping[str, Node]) -> dict[str, str]:
    """Old id to new id of nodes that are the same in all else."""
    gone, come = set(old) - set(new), set(new) - set(old)
    if not gone or not come:
        return {}
    candidates: dict[str, list[str]] = defaultdict(list)
    for key, print_ in _fingerprints(after, new, come, gone | come).items():
        candidates[print_].append(key)
    found: dict[str, str] = {}
    for key, print_ in _fingerprints(before, old, gone, gone | come).items():
        if candidates[print_]:
            found[key] = candidates[print_].pop(0)
    return found


def _fingerprints(flow: Flow, nodes: Mapping[str, Node], chosen: set[str], anonymous: set[str]) -> dict[str, str]:
    """A text for each chosen node that is the same for equal nodes, whatever the anonymous ones are called."""
    roots = dict.fromkeys(anonymous, _SOMEONE)
    paths = root_paths(roots)
    ends: dict[str, list[str]] = defaultdict(list)
    for edge in flow.edges:
        if edge.source in chosen:
            ends[edge.source].append(f"{edge.output} -> {roots.get(edge.target, edge.target)}.{edge.input}")
        if edge.target in chosen:
            ends[edge.target].append(f"{roots.get(edge.source, edge.source)}.{edge.output} -> {edge.input}")
    found: dict[str, str] = {}
    for key, node in nodes.items():
        if key in chosen:
            plain = rename_paths(node, paths).model_dump(mode="json", exclude={"id", "position", "label"})
            found[key] = canonical_json({"node": plain, "ends": list[JsonValue](sorted(ends[key]))})
    return found


def _by_id(nodes: Iterable[Node]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in nodes:
        found.setdefault(node.id, node)
    return found


def _moved(edge: Edge, renamed: Mapping[str, str]) -> Edge:
    if edge.source not in renamed and edge.target not in renamed:
        return edge
    ends = {"source": renamed.get(edge.source, edge.source), "target": renamed.get(edge.target, edge.target)}
    return edge.model_copy(update=ends)


def _shared(edges: Sequence[Edge], others: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    """The edges that `others` has too, and those it has not, counting those that occur several times."""
    left = Counter(others)
    kept: list[Edge] = []
    extra: list[Edge] = []
    for edge in edges:
        (kept if left[edge] > 0 else extra).append(edge)
        left[edge] -= 1
    return kept, extra


def _summary(node: Node) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"id": node.id, "type": node.type}
    return found | ({"label": node.label} if node.label else {})
