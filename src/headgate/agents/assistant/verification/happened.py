"""What a turn did, in the form that claims are compared with: each kind of change with the names it was about."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.agents.assistant.turn.turn import Turn
from headgate.graph.model import Flow, Node

ADDED, REMOVED, CONNECTED, DISCONNECTED = "added", "removed", "connected", "disconnected"
CONFIGURED, RENAMED, PROPOSED, WRITTEN = "configured", "renamed", "proposed", "written"
_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Happened:
    """What a turn did, as far as an answer could claim it."""

    changes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Kind of change to the lower-case names it was about: ids, types and labels of nodes, fields, files."""
    ran: bool = False
    known: frozenset[str] = _NO_NAMES
    """Lower-case names of what an answer can be about: nodes and files of the turn, types of the catalogue."""
    nodes: frozenset[int] = frozenset()
    """How many nodes the flow had before the turn and has after it; empty where there was no flow."""
    evidence: str = ""
    """Everything that the model read and that the runs returned; empty where numbers are not compared."""

    @property
    def changed(self) -> bool:
        """Whether the flow changed, an edit or a plan was proposed, a file was written or a component made."""
        return bool(self.changes)


def happened(turn: Turn) -> Happened:
    """What the turn did: from its actions, its files and the flow before and after it."""
    bench, changes = turn.bench, dict[str, set[str]]()
    _compare(turn.before, bench.flow, changes)
    for action in [*bench.actions, *bench.proposals]:
        _take(action, turn, changes)
    if turn.files:
        changes.setdefault(WRITTEN, set()).update(turn.files)
    if bench.waiting:
        component = [bench.component.checked.type] if bench.component is not None else []
        changes.setdefault(PROPOSED, set()).update(component)
    flows = (turn.before, bench.flow)
    named = [*(name for flow in flows for node in flow.nodes for name in _names(node)), *turn.files]
    return Happened(
        changes={kind: _lower(names) for kind, names in changes.items()},
        ran=bool(bench.runs),
        known=_lower([*named, *bench.registry.types()]),
        nodes=frozenset(len(flow.nodes) for flow in flows if flow.nodes),
        evidence="\n".join(_evidence(turn)) if bench.runs and turn.transcript else "",
    )


def _compare(before: Flow, after: Flow, changes: dict[str, set[str]]) -> None:
    """What a whole new flow added and removed, whatever its actions name."""
    old, new = ({node.id: node for node in flow.nodes} for flow in (before, after))
    for kind, nodes in ((ADDED, new.keys() - old.keys()), (REMOVED, old.keys() - new.keys())):
        for id_ in nodes:
            changes.setdefault(kind, set()).update(_names((new if kind == ADDED else old)[id_]))


def _take(action: Mapping[str, Any], turn: Turn, changes: dict[str, set[str]]) -> None:
    for kind, names in _of(action):
        changes.setdefault(kind, set()).update(_widened(names, turn))


def _of(action: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The kinds of change that an action is, with the names it was about."""
    id_ = str(action.get("component_id", ""))
    edge = action.get("edge") or {}
    match action["action"]:
        case "add_component":
            yield ADDED, [action["node"]["id"], action["node"]["type"]]
        case "remove_component":
            yield REMOVED, [id_]
        case "connect" | "disconnect" as kind:
            ends = [str(edge.get(name, "")) for name in ("source", "target", "output", "input")]
            yield (CONNECTED if kind == "connect" else DISCONNECTED), ends
        case "configure":
            yield CONFIGURED, [id_, *map(str, action.get("params") or {})]
        case "rename_component":
            yield RENAMED, [id_, str(action["new_id"])]
        case "edit_field":
            yield PROPOSED, [id_, str(action["field"]), str(action["component_type"])]
        case "set_flow" if action.get("undo"):
            names = [name for node in Flow.model_validate(action["flow"]).nodes for name in _names(node)]
            yield from ((kind, names) for kind in (ADDED, REMOVED, CONNECTED, DISCONNECTED, CONFIGURED, RENAMED))
        case "set_flow":
            yield from _of_flow(Flow.model_validate(action["flow"]))


def _of_flow(flow: Flow) -> Iterator[tuple[str, list[str]]]:
    names = [name for node in flow.nodes for name in (*_names(node), *node.params)]
    yield ADDED, names
    yield CONFIGURED, names
    if flow.edges:
        yield CONNECTED, names


def _widened(names: list[str], turn: Turn) -> Iterator[str]:
    """The names, and of nodes their types and labels."""
    yield from names
    for flow in (turn.before, turn.bench.flow):
        for node in flow.nodes:
            if node.id in names:
                yield from _names(node)


def _names(node: Node) -> list[str]:
    return [name for name in (node.id, node.type, node.label) if name]


def _evidence(turn: Turn) -> Iterator[str]:
    """Every text that a number of the answer can come from; the answers of the model are none."""
    yield from (str(message.text) for message in turn.transcript if message.type in {"tool", "human"})
    for run in turn.bench.runs:
        total = run.input_tokens + run.output_tokens
        yield f"{run.duration_ms} {run.duration_ms / 1000} {run.input_tokens} {run.output_tokens} {total} {run.outputs}"


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names if name)
