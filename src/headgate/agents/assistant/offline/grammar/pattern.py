"""Slot patterns over marked tokens: `@v.split <unit>`, `@o.first <number> @u.`.

An element is `'word'` (that word; `'a'|'b'` for either), `<slot:type>`, or `@sense`: a mark whose sense begins so
(`@a|b` for either). A verb counts only where it is one, `@*v.wait` also as a noun. Marks of sources, units and pronouns
are looked at but not taken; `@!u.part` takes them, `@=p.per` only looks. `@a.sum#function` keeps the sense as a slot.
`?` makes an element optional. Words without meaning (articles, courtesies, prepositions) are passed over between
elements, unless it begins with `+`; `~` passes over any few words.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.agents.assistant.offline.language.reading import Reading

SlotReader = Callable[[Reading, int, int], tuple[object, int] | None]
_ELEMENT = re.compile(
    r"(?P<close>\+)?(?P<body>~|@[*!=]?[\w.|]+(?:#\w+)?|'[^']+'(?:\|'[^']+')*|<\w+(?::\w+)?>)(?P<optional>\?)?"
)
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
    close: bool = False
    """Whether it must stand right behind the element before it."""
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
        return Element(words=frozenset(re.findall(r"'([^']+)'", body)), optional=optional, close=bool(match["close"]))
    name, _, kind = body[1:-1].partition(":")
    return Element(slot=name, slot_type=kind or name, optional=optional)


def match_at(pattern: Pattern, reading: Reading, at: int, end: int, readers: Mapping[str, SlotReader]) -> Found | None:
    """The pattern read from a token on, staying before `end` and off tokens that are taken."""
    state = _Matcher(pattern.elements, reading, end, readers).read(0, at)
    if state is None:
        return None
    slots, parts = state
    claims = [(start, stop) for start, stop, element in parts if not _only_seen(element)]
    for (_, stop, _), (start, _, _) in itertools.pairwise(parts):
        claims += [(place, place + 1) for place in range(stop, start) if _is_passed_over(reading, place)]
    return Found(pattern, parts[0][0], parts[-1][1], {**pattern.fixed, **slots}, tuple(claims))


def _only_seen(element: Element) -> bool:
    names_a_thing = bool(element.senses) and all(sense.startswith(_NEVER_CLAIMED) for sense in element.senses)
    return element.seen or (names_a_thing and not element.taken)


def _is_passed_over(reading: Reading, at: int) -> bool:
    return reading.is_light(at) and reading.mark(at, "ref.", "u.", "s.") is None


Parts = list[tuple[int, int, Element]]


@dataclass(frozen=True, slots=True)
class _Matcher:
    """Reads the elements of one pattern, going back where a way ends."""

    elements: Sequence[Element]
    reading: Reading
    end: int
    readers: Mapping[str, SlotReader]

    def read(self, index: int, at: int) -> tuple[dict[str, object], Parts] | None:
        """Slots and parts of the elements from `index` on, read from a token on."""
        if index == len(self.elements):
            return {}, []
        element = self.elements[index]
        if element.gap:
            return self._after_gap(index, at)
        for start in self._places(at, fixed=index == 0 or element.close):
            taken = self._take(element, start)
            rest = self.read(index + 1, taken[1]) if taken is not None else None
            if taken is not None and rest is not None:
                slots = {element.slot: taken[0], **rest[0]} if element.slot else rest[0]
                return slots, [(start, taken[1], element), *rest[1]]
        return self.read(index + 1, at) if element.optional else None

    def _after_gap(self, index: int, at: int) -> tuple[dict[str, object], Parts] | None:
        for start in range(at, min(at + _LONGEST_GAP + 1, self.end)):
            if start > at and (self.reading.is_punctuation(start - 1) or start - 1 in self.reading.used):
                return None
            rest = self.read(index + 1, start)
            if rest is not None:
                return rest
        return None

    def _places(self, at: int, *, fixed: bool) -> Iterator[int]:
        """Where an element may begin: here, or behind words without meaning."""
        yield at
        for _ in range(0 if fixed else _MOST_SKIPPED):
            if at >= self.end or not self.reading.is_light(at) or at in self.reading.used:
                return
            at += 1
            yield at

    def _take(self, element: Element, at: int) -> tuple[object, int] | None:
        if at >= self.end or at in self.reading.used:
            return None
        if element.slot_type:
            return self.readers[element.slot_type](self.reading, at, self.end)
        if element.words:
            word = self.reading.tokens[at].word
            return (word, at + 1) if word in element.words else None
        mark = self.reading.mark(at, *element.senses)
        if mark is None or mark.end > self.end:
            return None
        as_verb = mark.sense.startswith(("v.", "m.")) and not element.noun
        return None if as_verb and not self.reading.is_action(at) else (mark.sense, mark.end)
