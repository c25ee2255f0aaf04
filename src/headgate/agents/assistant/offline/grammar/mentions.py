"""Noun phrases that may point back: `it`, `them`, `both`, `the count table`."""

from collections.abc import Iterator

from headgate.agents.assistant.offline.grammar.operations import Mention
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.features.catalog.words import base_forms, word_set

_DEFINITE = word_set("the that this these those both all our my den det de dessa denna detta båda said its their")
_DEFINITE_FORMS = frozenset(["antalet", "summan", "snittet", "medelvärdet", "genomsnittet"])
_KINDS = {"ref.one": "one", "ref.many": "many", "ref.both": "both", "ref.others": "others"}
_LONGEST = 4


def is_definite(reading: Reading, at: int) -> bool:
    """Whether a noun is spoken of as known: `the count`, `that table`, `both counts`."""
    if reading.tokens[at].word in _DEFINITE_FORMS:
        return True
    while at > 0 and reading.mark(at - 1, "d.adverb", "number") is not None:
        at -= 1
    return at > 0 and reading.tokens[at - 1].word in _DEFINITE


def read_mentions(reading: Reading, start: int, end: int) -> Iterator[Mention]:
    """Mentions among the words of a clause that nothing else has taken. Claims pronouns, never names."""
    at = start
    while at < end:
        if at in reading.used:
            at += 1
            continue
        while at < end and reading.mark(at, "d.det") is not None and reading.mark(at, "ref.", "n.column") is None:
            at += 1
        pronoun = reading.mark(at, "ref.") if at < end else None
        named = _named(reading, at, end)
        both = pronoun is not None and pronoun.sense == "ref.both"
        if (
            named is not None
            and not both
            and (pronoun is None or named.end > pronoun.end or named.start < pronoun.start)
        ):
            yield named
            at = named.end
        elif pronoun is not None:
            yield Mention(
                _KINDS[pronoun.sense], _words(reading, pronoun.start, pronoun.end), pronoun.start, pronoun.end
            )
            at = pronoun.end
        else:
            at += 1


def _named(reading: Reading, at: int, end: int) -> Mention | None:
    """Words that name something: content words side by side, with or without an article before them."""
    first = at
    while first < end and reading.mark(first, "d.det") is not None and reading.mark(first, "n.column", "ref.") is None:
        first += 1
    last = first
    while last < end and last - first < _LONGEST and _is_name(reading, last):
        last += 1
    if last == first:
        return None
    return Mention("named", _words(reading, first, last), first, last)


def _is_name(reading: Reading, at: int) -> bool:
    token = reading.tokens[at]
    if at in reading.used or token.kind not in {Kind.WORD, Kind.PATH}:
        return False
    if reading.is_action(at) and not is_definite(reading, at):
        return False
    noun = reading.mark(at, "n.column", "a.", "f.", "ref.one", "t.", "u.") is not None
    return noun or (not reading.is_light(at) and reading.mark(at, "l.", "p.") is None)


def _words(reading: Reading, start: int, end: int) -> tuple[str, ...]:
    return tuple(form for at in range(start, end) for form in base_forms(reading.tokens[at].word))
