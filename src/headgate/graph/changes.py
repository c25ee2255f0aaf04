"""Changes of an edit, as small values that can be shown, sent, replayed, converted to a JSON Patch and undone."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar, cast

import jsonpatch
from pydantic import JsonValue

from headgate.graph.model import Edge, Flow, Node
from headgate.graph.value_changes import ValueChange, node_changes

Part = TypeVar("Part", Node, Edge)


class ChangeKind(StrEnum):
    """Kind of a change of one part of a flow."""

    NODE_ADDED = "node_added"
    NODE_REMOVED = "node_removed"
    NODE_CHANGED = "node_changed"
    EDGE_ADDED = "edge_added"
    EDGE_REMOVED = "edge_removed"
    EDGE_CHANGED = "edge_changed"


_INVERSE = {
    ChangeKind.NODE_ADDED: ChangeKind.NODE_REMOVED,
    ChangeKind.NODE_REMOVED: ChangeKind.NODE_ADDED,
    ChangeKind.EDGE_ADDED: ChangeKind.EDGE_REMOVED,
    ChangeKind.EDGE_REMOVED: ChangeKind.EDGE_ADDED,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the part before and after, and its place in the flow's nodes or edges."""

    kind: ChangeKind
    index: int
    before: Node | Edge | None = None
    after: Node | Edge | None = None

    @property
    def id(self) -> str:
        """Return the id of the node or edge, after the change where it still exists."""
        part = self.after or self.before
        return part.id if part is not None else ""

    @property
    def values(self) -> tuple[ValueChange, ...]:
        """Return the changes inside a changed node, except for id and position."""
        if isinstance(self.before, Node) and isinstance(self.after, Node):
            return node_changes(self.before, self.after)
        return ()

    def inverse(self) -> "Change":
        """Return the change that reverts this one."""
        return replace(self, kind=_INVERSE.get(self.kind, self.kind), before=self.after, after=self.before)

    def lines(self) -> list[str]:
        """Return a description of the change, one line per value."""
        if isinstance(self.before, Node) and isinstance(self.after, Node):
            renamed = [f"renamed '{self.before.id}' to '{self.after.id}'"] if self.before.id != self.after.id else []
            movements = [f"moved '{self.id}'"] if self.before.position != self.after.position else []
            return [*renamed, *movements, *(f"'{self.id}' {value}" for value in self.values)]
        if isinstance(self.before, Edge) and isinstance(self.after, Edge):
            return [f"{self.before.id} is now {self.after.id}"]
        part = self.after or self.before
        action = "added" if self.after is not None else "removed"
        return [f"{action} '{part.id}' ({part.type})" if isinstance(part, Node) else f"{action} {self.id}"]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the change as a JSON object with complete parts, so that another client can apply it."""
        document: dict[str, JsonValue] = {"kind": self.kind.value, "id": self.id, "index": self.index}
        for name, part in (("before", self.before), ("after", self.after)):
            if part is not None:
                document[name] = part.model_dump(mode="json")
        return document

    def patch(self) -> list[dict[str, JsonValue]]:
        """Return the change as operations of a JSON Patch on the flow's JSON."""
        path = f"/{'nodes' if isinstance(self.after or self.before, Node) else 'edges'}/{self.index}"
        if self.before is None:
            return [{"op": "add", "path": path, "value": _dump(self.after)}]
        if self.after is None:
            return [{"op": "remove", "path": path}]
        operations = jsonpatch.make_patch(_dump(self.before), _dump(self.after)).patch
        return [_below(path, operation) for operation in cast("list[dict[str, JsonValue]]", operations)]


@dataclass(frozen=True, slots=True)
class Edit:
    """A flow after an edit, and the changes of the edit, in order."""

    flow: Flow
    changes: tuple[Change, ...] = ()

    @property
    def nodes(self) -> list[str]:
        """Return ids of the nodes that were added, removed or changed, each once."""
        return list(dict.fromkeys(change.id for change in self.changes if change.kind.value.startswith("node")))

    def lines(self) -> list[str]:
        """Return the changes, one line each."""
        return [line for change in self.changes for line in change.lines()]

    def patch(self) -> list[dict[str, JsonValue]]:
        """Return a JSON Patch (RFC 6902) that turns the JSON of the flow before into that of the flow after."""
        return [operation for change in self.changes for operation in change.patch()]


def apply_changes(flow: Flow, changes: Iterable[Change]) -> Edit:
    """Apply changes to a flow, in order. Raises `ValueError` for one that does not match the flow."""
    nodes, edges = list(flow.nodes), list(flow.edges)
    done = tuple(changes)
    for change in done:
        if isinstance(change.after or change.before, Node):
            _apply(nodes, change.index, cast("Node | None", change.before), cast("Node | None", change.after))
        else:
            _apply(edges, change.index, cast("Edge | None", change.before), cast("Edge | None", change.after))
    return Edit(flow.model_copy(update={"nodes": tuple(nodes), "edges": tuple(edges)}), done)


def undo(edit: Edit) -> Edit:
    """Return the edit that reverts an edit."""
    return apply_changes(edit.flow, [change.inverse() for change in reversed(edit.changes)])


def removals(parts: Sequence[Part], unwanted: Callable[[Part], bool], kind: ChangeKind) -> list[Change]:
    """Return changes that remove every unwanted part, last first, so that the other indexes stay valid."""
    indexes = [index for index, part in enumerate(parts) if unwanted(part)]
    return [Change(kind, index, parts[index]) for index in reversed(indexes)]


def _apply(parts: list[Part], index: int, before: Part | None, after: Part | None) -> None:
    if before is not None and (index >= len(parts) or parts[index] != before):
        raise ValueError(f"the flow no longer has {before.id} at position {index}")
    parts[index : index + (before is not None)] = [after] if after is not None else []


def _dump(part: Node | Edge | None) -> JsonValue:
    return part.model_dump(mode="json") if part is not None else None


def _below(path: str, operation: dict[str, JsonValue]) -> dict[str, JsonValue]:
    moved = {name: f"{path}{operation[name]}" for name in ("path", "from") if name in operation}
    return operation | moved
