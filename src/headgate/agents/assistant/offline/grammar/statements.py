"""Reads one clause: which operations it asks for, on what, and where the result goes."""

from collections.abc import Iterator

from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.conditions import read_condition
from headgate.agents.assistant.offline.grammar.existence import speaks_of_existence
from headgate.agents.assistant.offline.grammar.mentions import is_definite, read_mentions
from headgate.agents.assistant.offline.grammar.operations import Operation, Statement
from headgate.agents.assistant.offline.grammar.outputs import read_outputs
from headgate.agents.assistant.offline.grammar.pattern import match_at
from headgate.agents.assistant.offline.grammar.rules import EXACT, READERS, STAGES, rules
from headgate.agents.assistant.offline.grammar.things import read_things
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_AGGREGATING = frozenset({"count", "aggregate", "tally"})
_RELATIVE = ("l.that",)
_ORDERING = frozenset(["by", "efter"])
_STRONG = word_set("c.over c.under c.least c.most c.starts c.ends c.matches c.occurs c.between")


def read_statement(reading: Reading, start: int, end: int, *, link: str = "next", question: bool = False) -> Statement:
    """The operations of a clause in the order they are done; claims every word it understands."""
    found = [
        *_unsupported(reading, start, end),
        *_phrases(reading, start, end, exact=True),
        *_filters(reading, start, end),
        *_phrases(reading, start, end, exact=False),
        *read_outputs(reading, start, end),
    ]
    found += list(_groups(reading, start, end, found)) or list(_bare_wait(reading, start, end, found))
    found += list(read_things(reading, start, end))
    _claim_verbs(reading, start, end)
    mentions = tuple(read_mentions(reading, start, end))
    _claim_shapes(reading, start, end, found)
    if any(operation.slots.get("report") for operation in found):
        found = [operation for operation in found if operation.name != "combine" or operation.slots.get("report")]
    if any(operation.name == "tally" for operation in found):
        found = [operation for operation in found if operation.name != "count"]
    if any("separator" in operation.slots for operation in found if operation.name == "join"):
        found = [operation for operation in found if operation.name != "join" or "separator" in operation.slots]
    ordered = tuple(sorted(found, key=lambda operation: (STAGES.get(operation.name, 9), operation.start)))
    return Statement(ordered, mentions, start, end, link, question)


def _unsupported(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    for mark in reading.find_all(start, end, "x."):
        reading.claim(mark.start, mark.end)
        yield Operation(
            "unsupported", {"sense": mark.sense, "word": reading.source(mark.start, mark.end)}, mark.start, mark.end
        )


def _filters(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """Conditions that choose among things: `lines that contain ERROR`, `packages with a GPL licence`."""
    at = start
    while at < end:
        opening = _opening(reading, start, at)
        read = read_condition(reading, opening, end) if opening is not None else None
        if opening is None or read is None or not _believable(reading, start, opening, *read):
            at += 1
            continue
        condition, stop = read
        keep = not _drops(reading, start, opening)
        claim_condition(reading, opening, stop)
        if opening > start and reading.mark(opening - 1, *_RELATIVE) is not None:
            reading.claim(opening - 1, opening)
        yield Operation("filter", {"condition": condition, "keep": keep}, opening, stop)
        at = stop


def _opening(reading: Reading, start: int, at: int) -> int | None:
    """Where a condition begins whose linking or comparing word stands at `at`."""
    if at in reading.used:
        return None
    relative = reading.mark(at, *_RELATIVE)
    if relative is not None:
        return relative.end
    mark = reading.mark(at, "c.")
    if mark is None or mark.sense == "c.not" or (at == start and mark.sense in {"c.is", "c.filled"}):
        return None
    while at > start and at - 1 not in reading.used and _is_subject(reading, at - 1):
        at -= 1
    return at


def _is_subject(reading: Reading, at: int) -> bool:
    """Whether a word before a comparison belongs to its subject: the column, a denial, `is`."""
    if reading.is_punctuation(at) or reading.is_action(at) or reading.mark(at, "l.", "p.") is not None:
        return False
    return reading.mark(at, "n.column", "c.not", "d.helper", "c.is") is not None or not reading.marks[at]


def _believable(reading: Reading, start: int, opening: int, condition: Condition, stop: int) -> bool:
    """Whether a comparison is one: `are installed` and `with their licences` are not."""
    mark = next((m for m in reading.find_all(opening, stop, "c.") if m.sense != "c.not"), None)
    if mark is None:
        return False
    if any(reading.mark(at, "o.") is not None for at in range(mark.end, stop)):
        return False
    relative = opening > start and reading.mark(opening - 1, *_RELATIVE) is not None
    chosen = relative or reading.find(start, opening + 1, "v.keep", "v.drop", "q.what") is not None
    word = reading.tokens[mark.start].word
    if mark.sense == "c.occurs":
        return condition.measure == "times" or any(
            reading.tokens[at].kind.value == "quoted" or reading.tokens[at].word in {"word", "text", "phrase"}
            for at in range(start, stop)
        )
    if mark.sense == "c.is":
        column = reading.mark(stop - 1, "n.column") is not None and reading.tokens[stop - 1].kind is Kind.WORD
        return chosen and not column and not all(reading.is_light(at) for at in range(mark.end, stop))
    if (
        mark.sense == "c.contains"
        and mark.end - mark.start == 1
        and word in {"with", "have", "has", "med", "har", "having", "under"}
    ):
        value = [at for at in range(mark.end, stop) if reading.mark(at, "f.") is None]
        telling = any(
            reading.mark(at, "n.column") is not None
            or reading.tokens[at].kind.value == "quoted"
            or (reading.tokens[at].text.isupper() and not reading.is_light(at))
            for at in value
        )
        possessive = any(reading.tokens[at].word in {"their", "its", "deras", "dess"} for at in value)
        return (
            telling
            and not possessive
            and any(not reading.is_light(at) and reading.mark(at, "n.column", "s.") is None for at in value)
        )
    return True


def _drops(reading: Reading, start: int, opening: int) -> bool:
    return any(reading.is_action(at) and reading.mark(at, "v.drop") is not None for at in range(start, opening))


def claim_condition(reading: Reading, start: int, end: int) -> None:
    """Claim a condition's words, but not the things its subject speaks of: they still name sources and units."""
    comparing = next((mark.start for mark in reading.find_all(start, end, "c.") if mark.sense != "c.not"), end)
    if speaks_of_existence(reading, start, end):
        comparing = end
    at = start
    while at < end:
        kept = reading.mark(at, "s.", "t.", "u.") if at < comparing and reading.mark(at, "n.column") is None else None
        if kept is not None:
            at = kept.end
            continue
        reading.claim(at, at + 1)
        at += 1


def _phrases(reading: Reading, start: int, end: int, *, exact: bool) -> Iterator[Operation]:
    """Operations that the phrases of `rules` find; each takes its words."""
    senses = reading.senses(start, end)
    for pattern in rules():
        if (pattern.operation in EXACT) != exact or not pattern.possible(senses):
            continue
        at = start
        while at < end:
            found = match_at(pattern, reading, at, end, READERS) if at not in reading.used else None
            if found is None:
                at += 1
                continue
            for claimed in found.claims:
                reading.claim(*claimed)
            slots = {**found.slots, "definite": is_definite(reading, found.start)}
            yield Operation(pattern.operation, slots, found.start, found.end)
            at = found.end


def _bare_wait(reading: Reading, start: int, end: int, found: list[Operation]) -> Iterator[Operation]:
    """`five seconds before saving`: a clause that says no more than a time asks to wait."""
    for at in range(start, end if not found else start):
        read = READERS["duration"](reading, at, end) if at not in reading.used else None
        if read is not None:
            reading.claim(at, read[1])
            yield Operation("wait", {"seconds": read[0]}, at, read[1])
            return


def _groups(reading: Reading, start: int, end: int, found: list[Operation]) -> Iterator[Operation]:
    """`per city`, `by licence`, `for each one`: only beside something to aggregate."""
    if not any(operation.name in _AGGREGATING for operation in found):
        if not any(operation.name == "sort" for operation in found):
            yield from _ordered(reading, start, end)
        return
    for mark in reading.find_all(start, end, "p.per"):
        if mark.start in reading.used:
            continue
        read = READERS["columns"](reading, _past_articles(reading, mark.end, end), end)
        whole = reading.mark(mark.end, "v.group") is not None and mark.end + 1 >= end
        if whole:
            reading.claim(mark.start, mark.end + 1)
        elif read is not None:
            reading.claim(mark.start, read[1])
            yield Operation("group", {"by": read[0]}, mark.start, read[1])
        elif reading.mark(mark.end, "ref.", "d.pronoun") is not None:
            reading.claim(mark.start, mark.end + 1)
            yield Operation("group", {"by": []}, mark.start, mark.end + 1)


def _ordered(reading: Reading, start: int, end: int) -> Iterator[Operation]:
    """`the packages by size`: a list in that order."""
    for mark in reading.find_all(start + 1, end, "p.by"):
        listed = reading.within(mark.start - 1, "s.", "u.", "t.") or mark.start - 1 in reading.used
        known = reading.mark(mark.end, "n.column") if mark.end < end else None
        if (
            mark.start in reading.used
            or not listed
            or known is None
            or reading.tokens[mark.start].word not in _ORDERING
        ):
            continue
        reading.claim(mark.start, known.end)
        yield Operation("sort", {"by": reading.source(known.start, known.end)}, mark.start, known.end)
        return


def _past_articles(reading: Reading, at: int, end: int) -> int:
    while at < end and reading.mark(at, "d.det") is not None and reading.mark(at, "n.column") is None:
        at += 1
    return at


def _claim_shapes(reading: Reading, start: int, end: int, found: list[Operation]) -> None:
    """`a table of`, `a list of`: words for what comes out anyway; and `tell me` before what is told."""
    for mark in reading.find_all(start, end, "f.table", "f.list"):
        reading.claim(mark.start, mark.end)
    for mark in reading.find_all(start, end, "v.say", "v.drop") if found else ():
        if reading.is_action(mark.start):
            reading.claim(mark.start, mark.end)
    for mark in (
        reading.find_all(start, end, "v.calculate", "v.count") if any(one.name in _AGGREGATING for one in found) else ()
    ):
        reading.claim(mark.start, mark.end)


def _claim_verbs(reading: Reading, start: int, end: int) -> None:
    """Verbs that only introduce what other words say: `find`, `list`, `take`, `check`."""
    for at in range(start, end):
        mark = reading.mark(
            at,
            "v.take",
            "v.list",
            "v.extract",
            "v.fetch",
            "v.check",
            "v.pick",
            "v.convert",
            "v.keep",
            "v.show",
            "v.group",
            "v.parse",
            "v.route",
            "v.greet",
        )
        if mark is not None and reading.is_action(at):
            reading.claim(mark.start, mark.end)
