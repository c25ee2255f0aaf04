"""Reads the small values of a request: numbers, durations, separators, values to compare with."""

from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.agents.assistant.offline.language.vocabulary.measures import (
    NUMBER_WORDS,
    SEPARATORS,
    SIZE_UNITS,
    TIME_UNITS,
)
from headgate.features.catalog.words import word_set

_CURRENCIES = word_set("kr sek kronor dollar dollars usd euro euros eur gbp pounds pound nok dkk")
_INTRODUCTIONS = word_set(
    "word words text phrase term string letters letter value number character characters exact keyword "
    "substring symbol ordet texten frasen the a an exactly prefix suffix tag label set to just simply called "
    "named with"
)
_NOT_COLUMN = ("v.", "m.", "s.", "f.", "l.", "p.", "o.", "a.", "ref.", "x.", "number", "q.", "separator")
_LONGEST_COLUMN = 3
_BEFORE_UNIT = word_set("a an of en more extra additional full whole entire")
_LONGEST_VALUE = 4
"""Words an unquoted value has at most."""
_ENDS_VALUE = ("v.", "m.", "l.", "p.", "d.pronoun", "d.helper", "d.courtesy", "d.connector", "c.")


def skip_light(reading: Reading, at: int, end: int, most: int, *, keep_literals: bool = False) -> int:
    """Past up to `most` words without meaning; with `keep_literals` also past `the word`, `the text`."""
    for _ in range(most):
        if at >= end or number_at(reading, at, end) is not None:
            return at
        introduces = keep_literals and reading.tokens[at].word in _INTRODUCTIONS and at + 1 < end
        if (introduces and reading.tokens[at].kind is Kind.WORD and not _ends_here(reading, at + 1, end)) or (
            reading.is_light(at) and reading.tokens[at].kind is Kind.WORD
        ):
            at += 1
        else:
            return at
    return at


def _ends_here(reading: Reading, at: int, end: int) -> bool:
    return at >= end or reading.is_punctuation(at)


def number_at(reading: Reading, at: int, end: int) -> tuple[float, int] | None:
    """A number in digits or words and where it ends."""
    if at >= min(end, len(reading)):
        return None
    token = reading.tokens[at]
    if token.kind is Kind.NUMBER and isinstance(token.value, int | float):
        return token.value, at + 1
    if token.kind is Kind.WORD and token.word in NUMBER_WORDS:
        return NUMBER_WORDS[token.word], at + 1
    if token.kind is Kind.SYMBOL and token.text in "$€£":
        return number_at(reading, at + 1, end)
    return None


def size_factor(reading: Reading, at: int, end: int) -> tuple[float, int]:
    """What a unit behind a number multiplies it with, and where the unit ends; a currency multiplies by 1."""
    if at < end:
        word = reading.tokens[at].word
        if word in SIZE_UNITS:
            return SIZE_UNITS[word], at + 1
        if word in _CURRENCIES or reading.tokens[at].text in {"$", "€", "%", "£"}:
            return 1, at + 1
    return 1, at


def duration_at(reading: Reading, at: int, end: int) -> tuple[float, int] | None:
    """Seconds of `3 seconds`, `half a minute`, `a second`, and where it ends."""
    read = number_at(reading, at, end)
    value, after = read if read is not None else (1.0, at + 1 if reading.tokens[at].word in {"a", "an", "en"} else at)
    if read is None and after == at:
        return None
    while after < end and reading.tokens[after].word in _BEFORE_UNIT:
        after += 1
    if after >= end or reading.tokens[after].word not in TIME_UNITS:
        return None
    seconds = value * TIME_UNITS[reading.tokens[after].word]
    return int(seconds) if float(seconds).is_integer() else seconds, after + 1


def separator_at(reading: Reading, at: int, end: int) -> tuple[str, int] | None:
    """A separator in quotes, as a sign, or by its name (`commas`, `a blank line`)."""
    if at >= end:
        return None
    token = reading.tokens[at]
    if token.kind is Kind.QUOTED:
        return str(token.value), at + 1
    for length in (3, 2, 1):
        name = reading.source(at, min(at + length, end)).lower()
        if at + length <= end and name in SEPARATORS:
            return SEPARATORS[name], at + length
    if token.kind is Kind.SYMBOL or token.kind is Kind.COMPARISON:
        return token.text, at + 1
    return None


def value_at(reading: Reading, at: int, end: int) -> tuple[str | float, int] | None:
    """A value to compare with: quoted, a number, a sign, or a few words, and where it ends."""
    if at >= end:
        return None
    token = reading.tokens[at]
    if token.kind in {Kind.QUOTED, Kind.PATTERN}:
        return str(token.value), at + 1
    if token.kind is Kind.NUMBER and token.value is not None:
        value, after = token.value, at + 1
        if isinstance(value, int | float):
            factor, after = size_factor(reading, after, end)
            return value * factor, after
    if token.kind in {Kind.SYMBOL, Kind.EMAIL, Kind.URL, Kind.FILE, Kind.COMPARISON}:
        return token.text, at + 1
    return _words_at(reading, at, end)


def _words_at(reading: Reading, at: int, end: int) -> tuple[str, int] | None:
    """Unquoted words: the first whatever it is, more while they stand in capitals or carry meaning of their own."""
    if reading.is_punctuation(at):
        return None
    stop = at + 1
    while stop < end and stop - at < _LONGEST_VALUE and _continues(reading, stop):
        stop += 1
    return reading.source(at, stop), stop


def _continues(reading: Reading, at: int) -> bool:
    token = reading.tokens[at]
    if token.kind is not Kind.WORD or reading.is_light(at) or reading.mark(at, "n.column") is not None:
        return False
    capital = token.text[:1].isupper()
    return reading.mark(at, *_ENDS_VALUE) is None if not capital else reading.mark(at, "v.", "l.") is None


_COLUMN = frozenset(["column", "field", "kolumnen"])
_CALLED = frozenset(["named", "called", "labelled", "labeled", "titled"])


def column_at(reading: Reading, at: int, end: int) -> tuple[str, int] | None:
    """The name of a column or form field: a known one, a quoted or dotted one, or an unknown word."""
    if at >= end:
        return None
    token = reading.tokens[at]
    if token.kind in {Kind.QUOTED, Kind.PATH}:
        return (str(token.value) if token.kind is Kind.QUOTED else token.text.strip("{}")), at + 1
    if token.word in _CALLED and reading.tokens[at - 1].word in _COLUMN:
        return column_at(reading, at + 1, end)
    if not _names_column(reading, at):
        return None
    stop = at + 1
    while stop < end and stop - at < _LONGEST_COLUMN and _joins_column(reading, stop):
        stop += 1
    if at in reading.corrected and reading.mark(at, "n.column") is not None:
        return " ".join(reading.meant(n) for n in range(at, stop)), stop
    return reading.source(at, stop), stop


def _names_column(reading: Reading, at: int) -> bool:
    if reading.tokens[at].kind is not Kind.WORD:
        return False
    if reading.mark(at, "t.", "u.") is not None or reading.is_noun(at, "n.column"):
        return True
    return not reading.is_light(at) and reading.mark(at, *_NOT_COLUMN) is None


def _joins_column(reading: Reading, at: int) -> bool:
    if reading.tokens[at].kind is not Kind.WORD:
        return False
    known = reading.mark(at, "n.column") is not None
    return known or (not reading.marks[at] and not reading.is_light(at))


def order_column_at(reading: Reading, at: int, end: int) -> tuple[str, int] | None:
    """What to sort by: a column, or a figure taken before (`by count`, `by total`)."""
    figure = reading.mark(at, "a.") if at < end else None
    if figure is not None and figure.end == at + 1:
        return reading.tokens[at].text, at + 1
    return column_at(reading, at, end)


def columns_at(reading: Reading, at: int, end: int) -> tuple[list[str], int] | None:
    """Several columns: `name, price and city`."""
    first = column_at(reading, at, end)
    if first is None:
        return None
    found, at = [first[0]], first[1]
    while at < end:
        after = at + 1 if reading.tokens[at].kind is Kind.COMMA else at
        link = reading.mark(after, "l.and")
        after = link.end if link is not None else after
        while at < after < end and reading.mark(after, "d.det") is not None and reading.mark(after, "n.column") is None:
            after += 1
        more = column_at(reading, after, end) if after > at else None
        if more is None:
            break
        found.append(more[0])
        at = more[1]
    return found, at


def senses_at(reading: Reading, at: int, end: int, *prefixes: str) -> tuple[list[str], int] | None:
    """Several things of a kind: `emails, links and dates`, as senses."""
    mark = reading.mark(at, *prefixes) if at < end else None
    if mark is None:
        return None
    found, at = [mark.sense], mark.end
    while at < end:
        after = at + 1 if reading.tokens[at].kind is Kind.COMMA else at
        link = reading.mark(after, "l.and", "l.or")
        after = link.end if link is not None else after
        if after == at:
            break
        after = skip_light(reading, after, end, 3)
        more = reading.mark(after, *prefixes) if after < end else None
        if more is None:
            break
        found.append(more.sense)
        at = more.end
    return found, at
