"""The little language that recipes are written in: `(keep|show) [only] {rows} where {condition}`.

`word` is that word; `(a|b c)` is one of several; `[x]` may be there; `<class>` is a set of words that mean the same, named
in `words.txt` of the language; `{slot}` or `{slot:name}` is a value of that type, kept under its name. A pattern matches whole tokens.
"""  # noqa: E501

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from headgate.agents.assistant.offline.language.files import classes, values
from headgate.agents.assistant.offline.language.languages import LIGHT, Language
from headgate.agents.assistant.offline.reading import kinds, units
from headgate.agents.assistant.offline.reading.sources import source_forms
from headgate.agents.assistant.offline.reading.words import ADJECTIVES, FUNCTIONS, ORDINALS, RESERVED

_PIECE = re.compile(
    r"\[|\]|\(|\)|\||\{(?P<slot>\w+)(?::(?P<name>\w+))?\}|<(?P<cls>\w+)>|(?P<word><=?(?!\w)|[^\s\[\]()|{}<]+)"
)
_VALUES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30, 50, 100)
NUMBER_WORDS: dict[str, int] = {
    word: value for words in values("numbers").values() for word, value in zip(words, _VALUES, strict=True)
}
_ANY = r"\S+ "
_BARE = r"(?!(?:" + "|".join(map(re.escape, sorted(RESERVED))) + r") )[^\s,;‹]+ "
"""A word that has no meaning of its own in a request."""
_VALUE = rf"(?:‹[qned]\d+› |(?:{_BARE}){{1,3}}?)"
_ONE = rf"(?:‹[qn]\d+› |{_BARE})"
_GENRES = values("genres")
_BACKOFF = values("backoff")
COSTS = {
    language: {
        word: name.replace("execution", "seconds")
        for name in ("usd", "tokens", "execution")
        for word in values(name)[language]
    }
    for language in LIGHT
}
"""Words for what a budget limits."""


def _alternatives(names: Iterable[str]) -> str:
    """One of these names; longer ones are tried first."""
    ordered = sorted(set(names), key=len, reverse=True)
    return "(?:" + "|".join(re.escape(name) + " " for name in ordered) + ")"


def _listed(names: Iterable[str]) -> str:
    """One or several of these names: `a, b and c`."""
    name = rf"(?:(?:every|each|any|varje) )?{_alternatives(names)}"
    return rf"{name}(?:(?:, )?(?:and |och |, ){name})*"


def _slots_of_flows(language: Language) -> dict[str, str]:
    """The same for requests about other flows, events and limits."""
    return {
        "duration": rf"(?:‹n\d+› |{_alternatives(NUMBER_WORDS)}){_alternatives(units.DURATIONS[language])}",
        "step": rf"(?:{_ANY}){{1,5}}?",
        "flow": rf"(?:{_ANY}){{1,8}}?",
        "given": rf"(?:‹[qne]\d+› |(?:{_BARE}){{1,3}}?)",
        "event": rf"(?:‹[qp]\d+› |{_BARE})",
        "until": rf"(?:{_ANY}){{1,16}}?",
        "model": r"(?:‹q\d+› |\S+ / \S+ )",
        "backoff": _alternatives(_BACKOFF[language]),
        "cost": _alternatives(COSTS[language]),
    }


def _slots(language: Language) -> dict[str, str]:
    """How the tokens of each type of slot look; `slots.py` reads what they mean and may refuse them."""
    sets = classes(language)
    unit = _alternatives(units.BY_NAME[language])
    adjectives = _alternatives(ADJECTIVES[language])
    return {
        "number": rf"(?:‹n\d+› |{_alternatives(NUMBER_WORDS)})",
        "quoted": r"‹q\d+› ",
        "text": rf"(?:‹[qen]\d+› |(?:{_BARE}){{1,4}}?)",
        "word": _ONE,
        "values": rf"{_VALUE}(?:(?:or|eller) {_ONE})?",
        "date": r"‹d\d+› ",
        "column": rf"(?:(?:column |kolumnen |field |fältet )?(?:‹q\d+› |{_BARE}(?:{_BARE})?)(?:column )?)",
        "columns": rf"(?:{_ANY}){{1,14}}?",
        "known": rf"(?:{_ANY}){{1,14}}?",
        "condition": rf"(?:{_ANY}){{1,16}}?",
        "comparison": rf"(?:{_ANY}){{2,9}}?",
        "rows": rf"(?:(?:de|dem) |{_BARE})",
        "trait": _ONE,
        "output": r"[^\s,;‹]+ ",
        "ordinal": _alternatives(ORDINALS),
        "files": r"‹f\d+› (?:(?:, |and |och )+‹f\d+› )*",
        "file": r"‹f\d+› ",
        "url": r"‹u\d+› ",
        "path": r"‹p\d+› ",
        "math": r"‹m\d+› ",
        "kinds": _listed(kinds.BY_NAME[language]),
        "unit": unit,
        "units": _listed(units.BY_NAME[language]),
        "source": "(?:" + "|".join(f"{form} " for form in source_forms(language)) + ")",
        "measures": _listed(FUNCTIONS[language]) + "(?:of |av |value )?",
        "direction": _alternatives((*sets["most"], *sets["least"])),
        "adjective": rf"{adjectives}(?:first |at top |on top |först |överst )?",
        "extreme": _alternatives(word for word, name in FUNCTIONS[language].items() if name in {"max", "min"}),
        "genre": rf"(?:{_BARE}){{0,4}}?{_alternatives(_GENRES[language])}(?:{_ANY}){{0,30}}?",
        "free": rf"(?:(?!(?:;|then|save|if|otherwise|unless|spara|sedan|om|annars) ){_ANY}){{1,40}}?",
        "node": rf"(?:{_ANY}){{1,5}}?",
        "component": rf"(?:{_ANY}){{1,3}}?",
        "choices": rf"(?:{_ANY}){{5,60}}?",
        "formula": rf"(?:{_ANY}){{3,9}}?",
        **_slots_of_flows(language),
    }


_MARKS: Mapping[str, str] = {
    "quoted": "‹q",
    "date": "‹d",
    "files": "‹f",
    "file": "‹f",
    "url": "‹u",
    "path": "‹p",
    "math": "‹m",
}
"""How the tokens begin that each of these types of slot is made of."""
_SLOTS: Mapping[Language, Mapping[str, str]] = {"en": _slots("en"), "sv": _slots("sv")}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern: what matches it, and which slot type each of its names has."""

    text: str
    expression: re.Pattern[str]
    slots: Mapping[str, str]


@lru_cache(maxsize=4096)
def compile_pattern(text: str, language: Language) -> Pattern:
    """A pattern of a language, compiled once. Raises `ValueError` for a class, slot or bracket that is unknown."""
    slots: dict[str, str] = {}
    parts: list[str] = []
    depth = 0
    for piece in _PIECE.finditer(text):
        sign = piece.group()
        depth += (sign in "([") - (sign in ")]") if len(sign) == 1 else 0
        parts.append(_expression(piece, slots, language))
    if depth:
        raise ValueError(f"Brackets do not match in the pattern '{text}'.")
    return Pattern(text, re.compile("".join(parts)), slots)


@lru_cache(maxsize=4096)
def needed_words(text: str, language: Language) -> tuple[frozenset[str], ...]:
    """Return what a line must contain to match, without compiling the pattern: a string of each of the sets.

    A string is a word as written in a line, or the mark of a value (`‹q` of a quoted one).
    """
    return tuple(_needed_by_any(_PIECE.finditer(text), language))


def can_match(text: str, language: Language, line: str) -> bool:
    """Whether a line has the words that a pattern needs. Most patterns fail here, and are never compiled."""
    return all(any(word in line for word in words) for words in needed_words(text, language))


def _needed_by_any(pieces: Iterator[re.Match[str]], language: Language) -> list[frozenset[str]]:
    """Read alternatives up to the bracket that closes them."""
    alternatives: list[list[frozenset[str]]] = [[]]
    for piece in pieces:
        sign = piece.group()
        if sign in {"]", ")"}:
            break
        if sign == "|":
            alternatives.append([])
        elif sign == "[":
            _needed_by_any(pieces, language)  # may be absent
        else:
            alternatives[-1] += _needed_by_any(pieces, language) if sign == "(" else _needed(piece, language)
    if len(alternatives) == 1:
        return alternatives[0]
    return [frozenset().union(*(needed[0] for needed in alternatives))] if all(alternatives) else []


def _needed(piece: re.Match[str], language: Language) -> list[frozenset[str]]:
    if piece["cls"]:
        return [frozenset(f"{word} " for word in classes(language).get(piece["cls"], ()))]
    if piece["slot"]:
        return [frozenset({_MARKS[piece["slot"]]})] if piece["slot"] in _MARKS else []
    return [] if piece["word"] in LIGHT[language] else [frozenset({f"{piece['word']} "})]


def _expression(piece: re.Match[str], slots: dict[str, str], language: Language) -> str:
    sign = piece.group()
    if sign in {"[", "("}:
        return "(?:"
    if sign in {"]", ")", "|"}:
        return {"]": ")?", ")": ")", "|": "|"}[sign]
    if piece["cls"]:
        words = classes(language).get(piece["cls"])
        if words is None:
            raise ValueError(f"There is no class <{piece['cls']}> of words in {language}.")
        return "(?:" + "|".join(re.escape(word) + " " for word in words) + ")"
    if piece["slot"]:
        name = piece["name"] or piece["slot"]
        slots[name] = piece["slot"]
        return f"(?P<{name}>{_SLOTS[language][piece['slot']]})"
    return "" if piece["word"] in LIGHT[language] else re.escape(piece["word"]) + " "
