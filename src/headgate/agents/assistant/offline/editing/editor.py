"""Edits the flow at hand: tries each kind of edit in turn, exact ones first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.editing.insertions import insert
from headgate.agents.assistant.offline.editing.moves import Edited, connect, disconnect, remove, rename
from headgate.agents.assistant.offline.editing.nodes import NodeFinder
from headgate.agents.assistant.offline.editing.settings import set_values
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment, segments
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set
from headgate.graph.model import Flow
from headgate.graph.template import Catalog

_NEW = frozenset(["flow", "workflow", "pipeline", "automation", "flöde"])
_MAKING = word_set("build create make new another start bygg skapa")


@dataclass(frozen=True, slots=True)
class Change:
    """An edit that was found, and the workshop it was made in when it added steps."""

    edited: Edited
    shop: Workshop | None = None


def edit(
    reading: Reading, clauses: Sequence[Segment], flow: Flow, catalog: Catalog, default_model: str | None
) -> Change | None:
    """The edit a request asks for, or several in turn; None when it is none of this flow."""
    if not flow.nodes or asks_for_new(reading):
        return None
    return _two_edits(reading, clauses, flow, catalog, default_model) or _one_edit(
        reading, clauses, flow, catalog, default_model
    )


def _two_edits(
    reading: Reading, clauses: Sequence[Segment], flow: Flow, catalog: Catalog, default_model: str | None
) -> Change | None:
    """`remove the save step and show the addresses`: a change of its own, then another on what it left."""
    for clause in clauses[1:]:
        if clause.link not in {"and", "then", "also", "next"} or not _acts(reading, clause):
            continue
        at = reading.tokens[clause.start].start
        left, right = Reading(reading.text[:at].rstrip(" ,.")), Reading(reading.text[at:])
        first = _graph_edit(left, NodeFinder(flow, catalog), catalog)
        if first is None or left.left_out():
            continue
        second = _one_edit(right, segments(right), first.flow, catalog, default_model)
        if second is not None and not right.left_out():
            reading.claim(0, len(reading))
            done = f"{first.done} {second.edited.done}"
            edited = replace(second.edited, done=done, renamed={**first.renamed, **second.edited.renamed})
            return Change(edited, second.shop)
    return None


def _acts(reading: Reading, clause: Segment) -> bool:
    acts = reading.is_action(clause.start) or reading.mark(clause.start, "e.") is not None
    return acts and clause.end - clause.start > 1


def _graph_edit(reading: Reading, finder: NodeFinder, catalog: Catalog) -> Edited | None:
    """An edit of the graph itself, exact enough to be tried first."""
    return (
        disconnect(reading, finder)
        or rename(reading, finder)
        or connect(reading, finder, catalog)
        or remove(reading, finder, catalog)
    )


def _one_edit(
    reading: Reading, clauses: Sequence[Segment], flow: Flow, catalog: Catalog, default_model: str | None
) -> Change | None:
    finder = NodeFinder(flow, catalog)
    exact = _graph_edit(reading, finder, catalog)
    if exact is not None:
        return Change(exact)
    placed = any(clause.link in {"before", "after", "between"} for clause in clauses)
    adds = reading.find(0, len(reading), "e.add", "l.also") is not None and _first_verb_adds(reading)
    if not placed and not adds:
        changed = set_values(reading, finder, catalog)
        if changed is not None:
            return Change(changed)
    inserted = insert(reading, clauses, finder, catalog, default_model)
    return Change(*inserted) if inserted is not None else None


def _first_verb_adds(reading: Reading) -> bool:
    """Whether the request begins by adding: `add`, `also`, `put ... after`."""
    for at in range(min(4, len(reading))):
        if reading.mark(at, "l.also") is not None or (
            reading.mark(at, "e.add") is not None and reading.tokens[at].word not in {"have", "include"}
        ):
            return True
    return reading.tokens[-1].word in {"too", "also"} if len(reading) else False


def asks_for_new(reading: Reading) -> bool:
    """Whether a new flow is asked for: `build a flow that ...`."""
    words = {token.word for token in reading.tokens}
    return (
        bool(words & _NEW)
        and bool(words & _MAKING)
        and reading.tokens[0].kind is Kind.WORD
        and not words & {"instead", "this"}
    )
