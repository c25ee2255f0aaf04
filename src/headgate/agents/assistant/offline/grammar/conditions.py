"""Conditions in words: `the amount is over 10 000`, `contain ERROR or WARN`, `any is GPL`, `without a licence`."""

from dataclasses import replace

from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.existence import read_existence
from headgate.agents.assistant.offline.grammar.slots import number_at, size_factor, skip_light, value_at
from headgate.agents.assistant.offline.language.lexicon import Mark
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import word_set

_NUMERIC = ("c.over", "c.under", "c.least", "c.most")
_QUANTIFIERS = {
    **dict.fromkeys(("any", "anything", "some", "something", "one", "någon", "något"), "any"),
    **dict.fromkeys(("all", "every", "everything", "alla"), "all"),
    **dict.fromkeys(("none", "nothing", "ingen"), "none"),
}
_ANNOUNCING = word_set(
    "a an the any exactly just simply only word words text phrase term string letters letter value number character"
    " keyword substring symbol ordet texten frasen prefix suffix tag label to en ett den det med"
)
_BARRIERS = ("l.then", "l.else", "l.if", "l.unless", "l.so")
_TIMES = frozenset({"once", "twice", "thrice"})
_COUNTED = ("u.", "t.", "s.packages")


def read_condition(reading: Reading, start: int, end: int) -> tuple[Condition, int] | None:
    """The condition at the start of a range and where it ends; None when there is no comparison."""
    found = read_existence(reading, start, end) or _read_one(reading, start, end)
    if found is None:
        return None
    condition, at = found
    others: list[Condition] = []
    joined = ""
    others += condition.others
    joined = condition.joined
    while (more := _read_other(reading, at, end, condition)) is not None:
        word, other, at = more
        others.append(other)
        joined = joined or word
    return replace(condition, others=tuple(others), joined=joined), at


def _read_one(reading: Reading, start: int, end: int) -> tuple[Condition, int] | None:
    comparison = _comparison(reading, start, end)
    if comparison is None:
        return None
    mark, negated, subject_end = comparison
    subject = (start, subject_end)
    bare = Condition(mark.sense.removeprefix("c."), subject=subject, negated=negated)
    bare = replace(bare, quantifier=_quantifier(reading, *subject), column=column_words(reading, *subject))
    if mark.sense == "c.occurs":
        return _occurrence(reading, bare, mark.end)
    if mark.sense == "c.between":
        return _range(reading, mark, bare, end)
    if mark.sense in {"c.empty", "c.filled"}:
        return _emptiness(reading, mark, bare, end)
    if mark.sense in _NUMERIC:
        return _numeric(reading, mark, bare, end)
    return _textual(reading, mark, bare, end)


def _comparison(reading: Reading, start: int, end: int) -> tuple[Mark, bool, int] | None:
    """The comparing words of a range, whether they are negated, and where the subject before them ends.

    `is not over` is `over`, negated.
    """
    negated = False
    subject_end = None
    at = start
    while at < end:
        if reading.mark(at, *_BARRIERS) is not None and at > start:
            return None
        mark = _usable(reading, at, end)
        denial = reading.mark(at, "c.not")
        if mark is None and denial is None:
            at += 1
            subject_end = None if not reading.is_light(at - 1) else subject_end
            continue
        subject_end = at if subject_end is None else subject_end
        if mark is None or (
            denial is not None and denial.end >= mark.end and mark.sense != "c.differs" and denial.end > at + 1
        ):
            negated = not negated
            at = denial.end if denial is not None else at + 1
            continue
        inner = _inner(reading, mark, end)
        differs = mark.sense == "c.differs"
        if inner is not None:
            return inner[0], negated ^ inner[1] ^ differs, subject_end
        found = Mark("c.is", mark.start, mark.end) if differs else mark
        return found, negated ^ differs, subject_end
    return None


def _inner(reading: Reading, mark: Mark, end: int) -> tuple[Mark, bool] | None:
    """The comparison behind `is`, `has` or `with`: `is not empty`, `has more than 3 lines`."""
    if mark.sense not in {"c.is", "c.contains", "c.differs", "c.occurs"}:
        return None
    negated = False
    at = mark.end
    while at < end and (reading.is_light(at) or reading.mark(at, "c.not") is not None):
        if _usable(reading, at, end) is not None and reading.mark(at, "c.not") is None:
            break
        negated ^= reading.mark(at, "c.not") is not None
        at += 1
    found = _usable(reading, at, end)
    if (
        found is None
        or found.sense == "c.differs"
        or (found.sense == "c.contains" and reading.tokens[at].word in {"with", "have", "has"})
    ):
        return None
    return found, negated


def _usable(reading: Reading, at: int, end: int) -> Mark | None:
    """The comparison that begins at a token, when what it needs follows: a number for `over`."""
    for mark in reading.marks[at] if at < end else ():
        if not mark.sense.startswith("c.") or mark.sense == "c.not":
            continue
        if mark.sense in _NUMERIC and number_at(reading, skip_light(reading, mark.end, end, 2), end) is None:
            continue
        if (
            mark.sense == "c.is"
            and reading.tokens[at].word == "under"
            and number_at(reading, mark.end, end) is not None
        ):
            continue
        return mark
    return None


def _quantifier(reading: Reading, start: int, end: int) -> str:
    words = (reading.tokens[at].word for at in range(start, end))
    return next((_QUANTIFIERS[word] for word in words if word in _QUANTIFIERS), "")


def column_words(reading: Reading, start: int, end: int) -> str:
    """The words of a range that can name a column or field: no articles, no sources, no pronouns."""
    kept: list[str] = []
    at = start
    while at < end:
        token = reading.tokens[at]
        if token.kind is Kind.QUOTED:
            return str(token.value)
        other = (
            reading.mark(at, "s.", "ref.", "u.", "p.", "l.that", "q.") if reading.mark(at, "n.column") is None else None
        )
        if other is not None:
            at = other.end
            continue
        named = reading.mark(at, "n.column") is not None or not reading.is_light(at)
        if token.kind in {Kind.WORD, Kind.PATH} and named:
            kept.append(token.text.strip("{}"))
        at += 1
    return " ".join(kept)


def _emptiness(reading: Reading, mark: Mark, bare: Condition, end: int) -> tuple[Condition, int] | None:
    """`is empty`, `is missing`, and `without a licence`, where what is missing comes after."""
    if mark.sense == "c.filled":
        bare = replace(bare, operator="empty", negated=not bare.negated)
    leads = reading.tokens[mark.end - 1].word in {
        "without",
        "no",
        "have",
        "has",
        "lack",
        "lacking",
        "utan",
        "saknar",
        "having",
        "ingen",
        "inget",
        "en",
    }
    if not leads:
        return bare, mark.end
    at = skip_light(reading, mark.end, end, 3)
    if at < end and reading.mark(at, "u.", "t.") is not None and reading.mark(at, "n.column") is None:
        counted = reading.mark(at, "u.", "t.")
        assert counted is not None  # noqa: S101 - just seen
        return replace(bare, operator="under", value=1, measure="count", unit=counted.sense), counted.end
    if at < end and (reading.tokens[at].kind is Kind.QUOTED or reading.mark(at, "n.column") is None):
        found = value_at(reading, at, end)
        if found is None:
            return bare, mark.end
        return replace(bare, operator="contains", value=found[0], negated=not bare.negated), found[1]
    stop = at + 1 if at < end else at
    return replace(bare, column=column_words(reading, at, stop) or bare.column), stop


def _occurrence(reading: Reading, bare: Condition, at: int) -> tuple[Condition, int] | None:
    """`the word banana occurs`: what is looked for comes first."""
    start, end = bare.subject
    read = value_at(reading, skip_light(reading, start, end, 4, keep_literals=True), end)
    if read is None:
        return None
    found = replace(bare, operator="contains", value=read[0], column="", subject=(start, start))
    link = reading.mark(read[1], "l.or") if read[1] < end else None
    other = value_at(reading, link.end, end) if link is not None else None
    return (replace(found, others=(replace(found, value=other[0]),), joined="or"), at) if other else (found, at)


def _range(reading: Reading, mark: Mark, bare: Condition, end: int) -> tuple[Condition, int] | None:
    low = number_at(reading, mark.end, end)
    link = reading.mark(low[1], "l.and", "p.to") if low else None
    high = number_at(reading, link.end, end) if link else None
    return (replace(bare, value=low[0], upper=high[0]), high[1]) if low and high else None


def _numeric(reading: Reading, mark: Mark, bare: Condition, end: int) -> tuple[Condition, int] | None:
    at = skip_light(reading, mark.end, end, 2)
    read = number_at(reading, at, end)
    if read is None:
        return None
    value, at = read
    factor, at = size_factor(reading, at, end)
    counted = reading.mark(skip_light(reading, at, end, 1), *_COUNTED) if factor == 1 else None
    found = replace(bare, value=value * factor)
    if reading.tokens[at - 1].word in _TIMES or (at < end and reading.tokens[at].word in {"times", "gånger"}):
        return replace(found, measure="times"), at if reading.tokens[at - 1].word in _TIMES else at + 1
    comparing = reading.source(mark.start, mark.end).lower()
    if counted is not None and counted.start < end:
        if counted.sense == "u.character":
            return replace(found, measure="length"), counted.end
        return replace(found, measure="count", unit=counted.sense), counted.end
    if any(word in comparing for word in ("longer", "shorter", "längre", "kortare")):
        return replace(found, measure="length"), at
    if any(word in comparing for word in ("fewer", "färre", "fler")):
        return replace(found, measure="count"), at
    return found, at


def _textual(reading: Reading, mark: Mark, bare: Condition, end: int) -> tuple[Condition, int] | None:
    plain = skip_light(reading, mark.end, end, 2)
    target = reading.mark(plain, "t.") if plain < end and mark.sense == "c.contains" else None
    if target is not None and target.end <= end and not _introduced(reading, mark.end, plain):
        return replace(bare, operator="over", value=0, measure="count", unit=target.sense), target.end
    at_value = _past_introduction(reading, mark.end, end)
    read = value_at(reading, at_value, end)
    if read is None:
        return None
    value, at = read
    found = replace(bare, value=value, exact=_is_exact(reading, at_value))
    bound = reading.mark(at, "c.least", "c.most") if isinstance(value, int | float) and at < end else None
    if bound is not None and reading.tokens[at].word in {"or", "and", "eller"}:
        return replace(found, operator=bound.sense.removeprefix("c.")), bound.end
    return _with_place(reading, found, at, end)


def _past_introduction(reading: Reading, at: int, end: int) -> int:
    """Past `the word`, `exactly`, `a`: what only announces a value."""
    while at + 1 < end and reading.tokens[at].word in _ANNOUNCING and not reading.is_punctuation(at + 1):
        at += 1
    return at


def _is_exact(reading: Reading, at: int) -> bool:
    token = reading.tokens[at]
    return token.kind is not Kind.WORD or token.text != token.text.lower()


def _introduced(reading: Reading, start: int, end: int) -> bool:
    """Whether the value is announced as a word: `contains the word email`."""
    return any(reading.tokens[at].word in {"word", "text", "phrase", "term", "ordet"} for at in range(start, end))


def _with_place(reading: Reading, found: Condition, at: int, end: int) -> tuple[Condition, int]:
    """Take the column out of `with a GPL licence` and `with apache in the licence`."""
    column = reading.mark(at, "n.column") if at < end else None
    if column is not None and not found.column:
        return replace(found, column=reading.tokens[at].text), at + 1
    place = reading.mark(at, "p.from") if at < end else None
    if place is not None and place.end < end:
        after = skip_light(reading, place.end, end, 2)
        if after < end and reading.mark(after, "n.column") is not None and not found.column:
            return replace(found, column=reading.tokens[after].text), after + 1
        if (
            all(reading.is_light(n) for n in range(place.end, after))
            and after > place.end
            and reading.tokens[after - 1].word in {"it", "them", "dem", "det", "den"}
        ):
            return found, after
    return found, at


def _read_other(reading: Reading, at: int, end: int, first: Condition) -> tuple[str, Condition, int] | None:
    """A further comparison, or a further value for the same one: `contains refund or return`."""
    bound = reading.mark(at, "c.least", "c.most") if at < end else None
    if bound is not None and number_at(reading, bound.end, end) is not None:
        reading.open_phrase(bound.start, bound.end)  # `below 1 or above 100`, not `1 or above`
    link = reading.mark(at, "l.and", "l.or") if at < end else None
    if link is None:
        return None
    word = "or" if link.sense == "l.or" else "and"
    after = skip_light(reading, link.end, end, 1, keep_literals=True)
    if after >= end or (reading.is_action(after) and not (word == "or" and after + 1 >= end)):
        return None
    more = _read_one(reading, link.end, end)
    if more is not None and not any(reading.is_punctuation(n) for n in range(link.end, more[1])):
        other, stop = more
        return word, other if other.column else replace(other, column=first.column), stop
    value = value_at(reading, after, end)
    if word == "or" and value is not None and first.operator in {"contains", "is", "starts", "ends"}:
        return word, replace(first, value=value[0], others=(), joined=""), value[1]
    return None
