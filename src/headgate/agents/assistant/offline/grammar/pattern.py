"""Slot patterns over marked tokens: `@v.split <unit>`, `@o.first <number> @u.`.

An element is `@sense` (a mark whose sense begins so; `@a|b` for either; a verb only where it is one, `@*v.wait` also as
a noun; `@!u.part` takes also what names a unit, `@=p.per`
only looks; `@a.sum#function` keeps the sense as a slot), `'word'` (that word; `'a'|'b'`), or `<slot:type>`. `?` makes it optional. Words without meaning (articles,
courtesies, prepositions) are passed over between elements; `~` passes over any few words.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.agents.assistant.offline.language.reading import Reading

SlotReader = Callable[[Reading, int, int], tuple[object, int] | None]
_ELEMENT = re.compile(r"(?P<body>~|@[*!=]?[\w.|]+(?:#\w+)?|'[^']+'(?:\|'[^']+')*|<\w+(?::\w+)?>)(?P<optional>\?)?")
_MOST_SKIPPED = 4
_LONGEST_GAP = 5


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a pattern."""

    senses: tuple[str, ...] = ()
    noun: bool = False
    """Whether a verb counts even where it stands as a noun."""
    taken: bool = False
    """Whether its words are taken although they name something to work on."""
    seen: bool = False
    """Whether its words are only looked at."""
    words: frozenset[str] = frozenset()
    slot: str = ""
    slot_type: str = ""
    optional: bool = False
    gap: bool = False
    """Passes over up to a few words of any kind, without taking them."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern: the operation it stands for, its elements, and slots it fixes."""

    operation: str
    elements: tuple[Element, ...]
    fixed: Mapping[str, object]

    def possible(self, senses: set[str]) -> bool:
        """Whether the senses that the pattern cannot do without are there; a quick look before matching."""
        return all(not senses.isdisjoint(one.senses) for one in self.elements if one.senses and not one.optional)


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern that matched the tokens from `start` up to `end`; `claims` are the spans it takes."""

    pattern: Pattern
    start: int
    end: int
    slots: dict[str, object]
    claims: tuple[tuple[int, int], ...]


_NEVER_CLAIMED = ("s.", "ref.", "u.")
"""Senses that a pattern only looks at: they still name what the operation works on."""


def compile_pattern(operation: str, text: str, **fixed: object) -> Pattern:
    """A pattern from its text form. Raises `ValueError` when the text is malformed."""
    elements = tuple(_element(match) for match in _ELEMENT.finditer(text))
    if not elements or _ELEMENT.sub("", text).strip():
        raise ValueError(f"malformed pattern: {text!r}")
    return Pattern(operation, elements, fixed)


def _element(match: re.Match[str]) -> Element:
    body, optional = match["body"], bool(match["optional"])
    if body == "~":
        return Element(gap=True)
    if body[0] == "@":
        senses, _, slot = body[1:].lstrip("*!=").partition("#")
        return Element(
            senses=tuple(senses.split("|")),
            noun="*" in body,
            taken="!" in body,
            seen=body[1:2] == "=",
            slot=slot,
            optional=optional,
        )
    if body[0] == "'":
        return Element(words=frozenset(re.findall(r"'([^']+)'", body)), optional=optional)
    name, _, kind = body[1:-1].partition(":")
    return Element(slot=name, slot_type=kind or name, optional=optional)


def match_at(pattern: Pattern, reading: Reading, at: int, end: int, readers: Mapping[str, SlotReader]) -> Found | None:
    """The pattern read from a token on, staying before `end` and off tokens that are taken."""
    state = _read(pattern.elements, 0, reading, at, end, readers)
    if state is None:
        return None
    slots, parts = state
    claims = [(start, stop) for start, stop, element in parts if not _only_seen(element)]
    for (_, stop, _), (start, _, _) in itertools.pairwise(parts):
        skipped = range(stop, start)
        claims += [
            (at, at + 1) for at in skipped if reading.is_light(at) and reading.mark(at, "ref.", "u.", "s.") is None
        ]
    return Found(pattern, parts[0][0], parts[-1][1], {**pattern.fixed, **slots}, tuple(claims))


def _only_seen(element: Element) -> bool:
    return element.seen or (
        bool(element.senses) and not element.taken and all(sense.startswith(_NEVER_CLAIMED) for sense in element.senses)
    )


def _read(
    elements: Sequence[Element], index: int, reading: Reading, at: int, end: int, readers: Mapping[str, SlotReader]
) -> tuple[dict[str, object], list[tuple[int, int, Element]]] | None:
    if index == len(elements):
        return {}, []
    element = elements[index]
    if element.gap:
        return _after_gap(elements, index, reading, at, end, readers)
    for start in _places(element, reading, at, end, first=index == 0):
        taken = _take(element, reading, start, end, readers)
        if taken is None:
            continue
        value, stop = taken
        rest = _read(elements, index + 1, reading, stop, end, readers)
        if rest is not None:
            slots = {element.slot: value, **rest[0]} if element.slot else rest[0]
            return slots, [(start, stop, element), *rest[1]]
    return _read(elements, index + 1, reading, at, end, readers) if element.optional else None


def _after_gap(
    elements: Sequence[Element], index: int, reading: Reading, at: int, end: int, readers: Mapping[str, SlotReader]
) -> tuple[dict[str, object], list[tuple[int, int, Element]]] | None:
    for start in range(at, min(at + _LONGEST_GAP + 1, end)):
        if start > at and (reading.is_punctuation(start - 1) or start - 1 in reading.used):
            return None
        rest = _read(elements, index + 1, reading, start, end, readers)
        if rest is not None:
            return rest
    return None


def _places(element: Element, reading: Reading, at: int, end: int, *, first: bool) -> Iterator[int]:
    """Where an element may begin: here, or behind words without meaning."""
    yield at
    if first:
        return
    for _ in range(_MOST_SKIPPED):
        if at >= end or not reading.is_light(at) or at in reading.used:
            return
        at += 1
        yield at


def _take(
    element: Element, reading: Reading, at: int, end: int, readers: Mapping[str, SlotReader]
) -> tuple[object, int] | None:
    if at >= end or at in reading.used:
        return None
    if element.slot_type:
        return readers[element.slot_type](reading, at, end)
    if element.words:
        word = reading.tokens[at].word
        return (word, at + 1) if word in element.words else None
    mark = reading.mark(at, *element.senses)
    if mark is None or mark.end > end:
        return None
    if mark.sense.startswith(("v.", "m.")) and not element.noun and not reading.is_action(at):
        return None
    return mark.sense, mark.end
