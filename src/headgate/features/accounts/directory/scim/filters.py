"""Parses SCIM filters and paths (RFC 7644, 3.4.2.2 and 3.5.2) to a tree, with limits of length, depth and terms."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from headgate.features.accounts.directory.errors import ScimInvalid, ScimType

MOST_CHARACTERS = 4_000
MOST_DEPTH = 20
MOST_TERMS = 100

Operator = Literal["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"]
Value: TypeAlias = str | bool | int | float | None
OPERATORS = frozenset({"eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"})
_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\\x00-\x1f]|\\.)*\")"
    r"|(?P<number>-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?![\w.]))"
    r"|(?P<word>[A-Za-z$][\w$:.\-]*)"
    r"|(?P<sub>\.[A-Za-z$][\w$\-]*)"
    r"|(?P<sign>[()\[\]]))",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z$][\w$\-]*(?:\.[A-Za-z$][\w$\-]*)?", re.ASCII)
_CORE = re.compile(r"urn:ietf:params:scim:schemas:core:2\.0:(?:user|group)(?::|$)", re.ASCII)
_LITERALS: Mapping[str, Value] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`attribute operator value`."""

    attribute: str
    """In lower case, without the URN of the core schema."""
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class Present:
    """`attribute pr`."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Both:
    """`left and right`."""

    left: "Filter"
    right: "Filter"


@dataclass(frozen=True, slots=True)
class Either:
    """`left or right`."""

    left: "Filter"
    right: "Filter"


@dataclass(frozen=True, slots=True)
class Not:
    """`not (inner)`."""

    inner: "Filter"


@dataclass(frozen=True, slots=True)
class Among:
    """`attribute[inner]`: at least one value of the attribute matches."""

    attribute: str
    inner: "Filter"


Filter: TypeAlias = Comparison | Present | Both | Either | Not | Among


@dataclass(frozen=True, slots=True)
class Path:
    """The target of a PATCH operation."""

    attribute: str
    among: Filter | None = None
    """Filter of the values."""
    sub: str | None = None
    """Sub-attribute of the value or of each matching value."""


def attribute_name(text: str) -> str:
    """Return an attribute in lower case without the URN of the core schema; others keep their URN."""
    return _CORE.sub("", text.lower(), count=1)


def parse_filter(text: str) -> Filter:
    """Return the tree of a filter. Raises `ScimInvalid` (`invalidFilter`)."""
    reader = _Reader(text, "invalidFilter")
    tree = reader.either()
    reader.end()
    return tree


def parse_path(text: str) -> Path:
    """Return the parts of a PATCH path. Raises `ScimInvalid` (`invalidPath`)."""
    reader = _Reader(text, "invalidPath")
    path = reader.path()
    reader.end()
    return path


class _Reader:
    def __init__(self, text: str, fault: ScimType) -> None:
        self._fault: ScimType = fault
        if len(text) > MOST_CHARACTERS:
            raise self._wrong(f"It is over {MOST_CHARACTERS} characters long.")
        self._tokens: list[tuple[str, str]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None or match.lastgroup is None:
                raise self._wrong(f"Syntax error at character {place + 1}: {text[place : place + 30]!r}.")
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        self._place = self._depth = self._terms = 0

    def either(self) -> Filter:
        """Return terms joined with `or`."""
        left = self._both()
        while self._take_word("or"):
            left = Either(left, self._both())
        return left

    def path(self) -> Path:
        """Return `attribute`, `attribute.sub`, `attribute[filter]` or `attribute[filter].sub`."""
        name = self._attribute()
        if not self._take_sign("["):
            attribute, _, sub = ("", "", "") if ":" in name else name.partition(".")
            return Path(attribute or name, sub=sub or None)
        inner = self._nested("]")
        kind, text = self._here()
        self._place += kind == "sub"
        return Path(name, inner, text[1:].lower() if kind == "sub" else None)

    def end(self) -> None:
        """Raise unless everything was parsed."""
        if self._place < len(self._tokens):
            raise self._wrong(f"Unexpected '{self._here()[1][:30]}'.")

    def _both(self) -> Filter:
        left = self._term()
        while self._take_word("and"):
            left = Both(left, self._term())
        return left

    def _term(self) -> Filter:
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise self._wrong(f"It has more than {MOST_TERMS} terms.")
        if self._take_sign("("):
            return self._nested(")")
        if self._is_word("not") and self._sign_at(self._place + 1) == "(":
            self._place += 2
            return Not(self._nested(")"))
        attribute = self._attribute()
        if self._take_sign("["):
            return Among(attribute, self._nested("]"))
        operator = self._next("word").lower()
        if operator == "pr":
            return Present(attribute)
        if operator not in OPERATORS:
            raise self._wrong(f"There is no operator '{operator[:30]}'.")
        return Comparison(attribute, cast("Operator", operator), self._value())

    def _nested(self, closing: str) -> Filter:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self._wrong(f"It is nested more than {MOST_DEPTH} deep.")
        tree = self.either()
        if not self._take_sign(closing):
            raise self._wrong(f"'{closing}' is missing.")
        self._depth -= 1
        return tree

    def _attribute(self) -> str:
        name = attribute_name(self._next("word"))
        if ":" not in name and _NAME.fullmatch(name) is None:
            raise self._wrong(f"'{name[:60]}' is not a known attribute.")
        return name

    def _value(self) -> Value:
        kind, text = self._here()
        self._place += 1
        if kind == "text":
            try:
                return str(json.loads(text))
            except ValueError:
                raise self._wrong(f"{text[:60]} is not a JSON string.") from None
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind == "word" and text.lower() in _LITERALS:
            return _LITERALS[text.lower()]
        raise self._wrong(f"Expected a value in quotes, a number, true, false or null at '{text[:30]}'.")

    def _next(self, kind: str) -> str:
        token, text = self._here()
        if token != kind:
            raise self._wrong(f"Expected a name at '{text[:30]}'." if text else "It ends too early.")
        self._place += 1
        return text

    def _here(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("", "")

    def _is_word(self, keyword: str) -> bool:
        kind, text = self._here()
        return kind == "word" and text.lower() == keyword

    def _take_word(self, keyword: str) -> bool:
        is_match = self._is_word(keyword)
        self._place += is_match
        return is_match

    def _sign_at(self, place: int) -> str:
        kind, text = self._tokens[place] if place < len(self._tokens) else ("", "")
        return text if kind == "sign" else ""

    def _take_sign(self, sign: str) -> bool:
        is_match = self._sign_at(self._place) == sign
        self._place += is_match
        return is_match

    def _wrong(self, reason: str) -> ScimInvalid:
        target = "filter" if self._fault == "invalidFilter" else "path"
        return ScimInvalid(self._fault, f"Invalid {target}. {reason}", remedy="See RFC 7644, section 3.4.2.2.")
