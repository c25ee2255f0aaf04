"""Clauses inside a branch: operations as anywhere, or words that are themselves the result: `ask for review`."""

from dataclasses import replace

from headgate.agents.assistant.offline.grammar.operations import Operation, Statement
from headgate.agents.assistant.offline.grammar.statements import read_statement
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_LITERALS = {Kind.QUOTED, Kind.FILE, Kind.URL, Kind.FORMULA}
_WORKING = tuple(
    word_set(
        "v.save v.wait v.count v.extract v.keep v.drop v.sort v.split v.replace v.mask v.join v.fetch "
        "v.combine v.sum v.calculate v.convert v.dedupe v.number v.show v.list v.take v.send v.pick m."
    )
)
_POINTERS = ("ref.", "u.", "t.", "a.", "s.", "f.", "o.")
_SAY = frozenset(["say", "säg"])
_WHICH = word_set("which what them those these vilka dem packages names")


def skip_subject(reading: Reading, at: int, end: int) -> int:
    """Past the words before what a branch says: `we want it to`, `then it goes to`."""
    while at < end and reading.is_light(at) and not reading.is_action(at) and reading.tokens[at].kind is Kind.WORD:
        if reading.mark(at, "v.say") is not None and reading.tokens[at].word in _SAY:
            return at
        at += 1
    return at


def read_body(reading: Reading, clause: Segment) -> Statement:
    """A clause of a branch. Words that ask for nothing known are the text to give."""
    said = _said(reading, clause)
    found = said if said is not None else read_statement(reading, clause.start, clause.end, link=clause.link)
    if len(found.operations) == 1 and found.operations[0].name == "literal":
        return replace(found, operations=(replace(found.operations[0], name="say"),))
    return found


def _said(reading: Reading, clause: Segment) -> Statement | None:
    if any(reading.tokens[at].kind in _LITERALS for at in range(clause.start, clause.end)):
        return None
    at = skip_subject(reading, clause.start, clause.end)
    if at >= clause.end:
        return None
    verb = reading.mark(at, "v.say", "v.list")
    says = verb is not None and (reading.is_action(at) or at == clause.start)
    rest = verb.end if says and verb is not None else at
    if says and _lists(reading, rest, clause.end):
        reading.claim(clause.start, clause.end)
        return _statement(clause, Operation("which", {}, rest, clause.end))
    if not says and reading.is_action(at) and reading.mark(at, *_WORKING) is not None:
        return None
    if says and _points(reading, rest, clause.end):
        return None
    while rest < clause.end and reading.tokens[rest].word in {"that", "just", "only", "simply", "att"}:
        rest += 1
    text = reading.source(rest, clause.end)
    reading.claim(clause.start, clause.end)
    return _statement(clause, Operation("say", {"text": text, "assumed": not says}, rest, clause.end))


def _lists(reading: Reading, start: int, end: int) -> bool:
    """`say which ones`, `tell me which`."""
    words = {reading.tokens[at].word for at in range(start, end)}
    return bool(words & _WHICH) and all(
        reading.is_light(at) or reading.within(at, "ref.", "q.", "s.packages", "u.") for at in range(start, end)
    )


def _points(reading: Reading, start: int, end: int) -> bool:
    """Whether what follows `say` is a result to give rather than words: `say the count`, `show it`."""
    if start >= end:
        return True
    content = [at for at in range(start, end) if not reading.is_light(at) or reading.mark(at, "ref.") is not None]
    return bool(content) and all(reading.mark(at, *_POINTERS) is not None for at in content)


def _statement(clause: Segment, operation: Operation) -> Statement:
    return Statement((operation,), (), clause.start, clause.end, clause.link)
