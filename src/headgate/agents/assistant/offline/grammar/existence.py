"""Conditions on what there is: `there is an error in it`, `are there any GPL packages`."""

from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.slots import number_at, separator_at, skip_light, value_at
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind

_OPENINGS = (
    ("there", "is"), ("there", "are"), ("there", "was"), ("there", "were"), ("is", "there"), ("are", "there"),
    ("there's",), ("det", "finns"), ("finns", "det"), ("finns",),
)  # fmt: skip
_DENIALS = (("there", "isn't"), ("there", "aren't"), ("isn't", "there"), ("aren't", "there"), ("det", "inte", "finns"))
_OTHERS = ("c.", "ref.", "a.", "l.", "number")
"""What may follow that is no thing to look for: a comparison, a pronoun, a number."""


def read_existence(reading: Reading, start: int, end: int) -> tuple[Condition, int] | None:
    """That there is such a thing, and where the words for it end; None when nothing of the kind is said."""
    opened = _opening(reading, start, end)
    if opened is None:
        return None
    at, negated = opened
    at = skip_light(reading, at, end, 3, keep_literals=True)
    if at >= end or reading.is_punctuation(at) or reading.mark(at, *_OTHERS) is not None or number_at(reading, at, end):
        return None
    kind = reading.mark(at, "t.", "u.")
    if reading.mark(at, "s.") is not None and _sign(reading, at, end) is None:
        return None
    if kind is not None:
        return Condition("over", 0, measure="count", unit=kind.sense, negated=negated), kind.end
    thing = next(reading.find_all(at + 1, end, "s.", "t.", "u."), None)
    read = _sign(reading, at, end) or value_at(reading, at, thing.start if thing is not None else end)
    if read is None:
        return None
    token = reading.tokens[at]
    exact = token.kind is not Kind.WORD or token.text != token.text.lower()
    stop = thing.end if thing is not None and thing.start == read[1] else read[1]
    found = Condition("contains", read[0], quantifier="any", exact=exact, negated=negated)
    return found, _past_pronoun(reading, stop, end)


def speaks_of_existence(reading: Reading, start: int, end: int) -> bool:
    """Whether a range begins with `there is` or its like."""
    return _opening(reading, start, end) is not None


def _sign(reading: Reading, at: int, end: int) -> tuple[str, int] | None:
    """A sign by its name: `a comma`, `a question mark`."""
    named = reading.mark(at, "separator") is not None and reading.tokens[at].kind is Kind.WORD
    return separator_at(reading, at, end) if named else None


def _opening(reading: Reading, start: int, end: int) -> tuple[int, bool] | None:
    """Past `there is`, and whether it says that there is not."""
    for phrases, negated in ((_DENIALS, True), (_OPENINGS, False)):
        for phrase in phrases:
            words = tuple(token.word for token in reading.tokens[start : min(start + len(phrase), end)])
            if words == phrase:
                return start + len(phrase), negated
    return None


def _past_pronoun(reading: Reading, at: int, end: int) -> int:
    """Past `in it`, `among them`."""
    place = reading.mark(at, "p.from") if at < end else None
    pronoun = reading.mark(place.end, "ref.") if place is not None and place.end < end else None
    return pronoun.end if pronoun is not None and pronoun.end <= end else at
