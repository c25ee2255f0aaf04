"""Sorts the operations of a clause by how they are carried out, and cuts a clause that does several things at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Operation, Statement
from headgate.features.catalog.words import word_set

COLLECTIVE = word_set("combine save show send wait join heading shape say which")
"""Operations on all results of a clause together."""
SUMMARIES = frozenset({"count", "aggregate", "tally"})
OUTPUTS = frozenset({"save", "show", "send"})
_MADE = frozenset({"date", "calculate", "arithmetic", "literal", "unsupported"})
_AFTER_SUMMARY = word_set("superlative sort limit columns number bullets prefix")
_ROW_WORK = word_set("columns sort superlative limit dedupe filter frequent")
_LISTING = frozenset({"superlative", "limit", "sort", "columns"})


@dataclass(slots=True)
class Plan:
    """The operations of one clause: on each value before figures are taken, the figures, on each after, on all."""

    summaries: list[Operation] = field(default_factory=list)
    by: list[str] | None = None
    single: list[Operation] = field(default_factory=list)
    collective: list[Operation] = field(default_factory=list)

    @property
    def before(self) -> list[Operation]:
        """What is done on each value before figures are taken."""
        return [operation for operation in self.single if operation.name not in self._late]

    @property
    def after(self) -> list[Operation]:
        """What is done on each result of the figures."""
        return [operation for operation in self.single if operation.name in self._late]

    @property
    def _late(self) -> frozenset[str]:
        return _AFTER_SUMMARY | {"frequent"} if self.summaries else _AFTER_SUMMARY

    @property
    def listing(self) -> list[Operation]:
        """The list asked for beside figures: `the total size and the ten heaviest`; empty when there is none."""
        if not self.summaries or self.by is not None:
            return []
        found = [operation for operation in self.single if operation.name in _LISTING]
        return found if any(operation.name == "superlative" for operation in found) else []

    @property
    def needs_input(self) -> bool:
        """Whether there must be something to work on."""
        joins = any(operation.name == "join" for operation in self.collective)
        return bool(self.single or self.summaries or self.by is not None or joins)


def make_plan(operations: Iterable[Operation]) -> Plan:
    """The plan of a clause's operations."""
    plan = Plan()
    for operation in operations:
        if operation.name == "group":
            plan.by = [*(plan.by or []), *operation.slots["by"]]
        elif operation.name in SUMMARIES:
            plan.summaries.append(operation)
        elif operation.name in COLLECTIVE:
            plan.collective.append(operation)
        elif operation.name not in _MADE:
            plan.single.append(operation)
    return plan


def pieces_of(statement: Statement) -> list[Statement]:
    """A clause cut where several things in it have work of their own: `lines with A and lines with B`."""
    filters = [operation for operation in statement.operations if operation.name == "filter"]
    derivations = sorted((operation for operation in statement.operations if operation.name == "derive"), key=_start)
    if len(filters) > 1 and len(derivations) == len(filters):
        shared = _others_than(statement, {"filter", "derive"} | COLLECTIVE)
        pairs = zip(derivations, sorted(filters, key=_start), strict=True)
        return [replace(statement, operations=(*shared, one, other)) for one, other in pairs]
    return _with_own_count(statement, derivations)


def _with_own_count(statement: Statement, derivations: Sequence[Operation]) -> list[Statement]:
    """`the headings and the number of links`, `number of lines and number of words`: each count has its own things."""
    counts = sorted(
        (one for one in statement.operations if one.name == "count" and not one.slots.get("verb")), key=_start
    )
    if not counts or not derivations or (len(counts) == 1 and derivations[0].start > counts[0].start):
        return [statement]
    shared = _others_than(statement, {"count", "derive", "dedupe", "filter"} | COLLECTIVE)
    own = sorted((one for one in statement.operations if one.name in {"derive", "dedupe", "filter"}), key=_start)
    bounds = [*(count.start for count in counts), statement.end + 1]
    pieces = [replace(statement, operations=(*shared, *(one for one in own if one.start < bounds[0])))]
    for number, count in enumerate(counts):
        inside = [one for one in own if bounds[number] <= one.start < bounds[number + 1]]
        if not any(one.name == "derive" for one in inside):
            return [statement]
        pieces.append(replace(statement, operations=(*shared, *inside, count)))
    return [piece for piece in pieces if piece.has("derive")]


def _others_than(statement: Statement, names: frozenset[str] | set[str]) -> tuple[Operation, ...]:
    return tuple(operation for operation in statement.operations if operation.name not in names)


def _start(operation: Operation) -> int:
    return operation.start


def fitting(shop: Workshop, values: list[Value], plan: Plan) -> list[Value]:
    """The list or table meant when figures are at hand and rows are asked for: `count them and give me their names`."""
    rows = any(operation.name in _ROW_WORK for operation in plan.single) or plan.by is not None
    if not rows or not values or any(value.kind != "number" for value in values):
        return values
    several = [value for value in shop.values if value.kind in {"items", "table", "file"}]
    return several[-1:] or values


def asks_only_to_see(statement: Statement) -> bool:
    """Whether a clause does no more than show what it names, in some order."""
    plain = {"source", "columns", "filter", "sort", "limit"}
    return statement.has("dedupe", *OUTPUTS) or all(operation.name in plain for operation in statement.operations)
