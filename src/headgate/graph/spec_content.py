"""Content of spec lines: text, a value, members or items; faults include the line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from headgate.graph.names import did_you_mean, listed
from headgate.graph.spec_lines import MEMBER, Faults, Line
from headgate.graph.spec_values import parse_key, parse_quoted, parse_scalar

_SPACE_IN_NAME = re.compile(r"(\w[\w \-]{0,63}):[ \t]+(.*)")
TRIGGER = "name: kind"
"""The form of a trigger, whose name may have spaces."""
_SPACE_MISSING = re.compile(r'([^\W][^\s:"]*):(\S.*)')


@dataclass(slots=True)
class Member:
    """A line `name: value`, with the lines below it."""

    name: str
    raw: str
    """The text after the colon, stripped."""
    line: Line


@dataclass(frozen=True, slots=True)
class Place:
    """The node that is being parsed, for its faults."""

    node: str = ""
    field: str = ""


NOWHERE = Place()


ModelType = TypeVar("ModelType", bound=BaseModel)


class ContentReader:
    """Parses lines as members, texts and values, collects faults and continues."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def members(self, lines: list[Line], what: str, place: Place = Place()) -> Iterator[Member]:
        """Yield the lines as members with unique names. `what` is the expected form in faults: `name: value`."""
        lines_by_name: dict[str, int] = {}
        for line in lines:
            member = self._member(line, what, place)
            if member is None:
                continue
            if member.name in lines_by_name:
                self.fault(
                    line,
                    f"'{member.name}' appears twice, first in line {lines_by_name[member.name]}.",
                    "Keep one of them.",
                    place,
                )
                continue
            lines_by_name[member.name] = line.number
            yield member

    def text(self, member: Member, place: Place = Place()) -> str | None:
        """Return the member's value as text, whatever it looks like; None after a fault."""
        if member.line.block is not None:
            return member.line.block
        if self._has_lines_below(member, place):
            return None
        if not member.raw.startswith('"'):
            return member.raw
        try:
            return parse_quoted(member.raw)
        except ValueError as error:
            self.fault(member.line, f"'{member.name}': {error}.", "", place)
            return None

    def value(self, member: Member, place: Place = Place()) -> JsonValue:
        """Return the member's value: a word, JSON, a block of text, or nested members or items. None after a fault."""
        if member.line.block is not None:
            return member.line.block
        if not member.raw and member.line.children:
            return self.nested(member.line.children, place)
        if self._has_lines_below(member, place):
            return None
        return self._word(member.line, member.raw, f"'{member.name}': ", place)

    def nested(self, lines: list[Line], place: Place) -> JsonValue:
        """Return lines below a name as an object, or as a list when the first is an item."""
        if _is_item(lines[0]):
            return [self._item(line, place) for line in lines]
        return {member.name: self.value(member, place) for member in self.members(lines, "name: value", place)}

    def texts(self, member: Member, place: Place) -> JsonValue:
        """Return the value with words kept as text; for members that can only be text."""
        if member.line.block is None and not member.raw and member.line.children:
            lines = member.line.children
            if _is_item(lines[0]):
                return self.value(member, place)
            return {inner.name: self.texts(inner, place) for inner in self.members(lines, "name: text", place)}
        if member.raw.startswith(("{", "[")) and not member.raw.startswith("{{"):
            return self.value(member, place)
        return self.text(member, place)

    def fault(self, line: Line, message: str, remedy: str, place: Place = Place()) -> None:
        """Record a fault of a line."""
        self.faults.add(line.number, message, remedy, node=place.node, field=place.field)

    def model(
        self, build: type[ModelType], values: Mapping[str, object], lines: "Lines", place: Place
    ) -> ModelType | None:
        """Create a value of the flow model, converting its errors to faults with lines; None after one."""
        try:
            return build.model_validate(dict(values))
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                path = tuple(part for part in fault["loc"] if isinstance(part, str))
                message, remedy = _error_text(build, path, fault)
                where = Place(place.node, ".".join(path) or place.field)
                self.faults.add(lines.of(path), message, remedy, node=where.node, field=where.field)
            return None

    def _member(self, line: Line, what: str, place: Place) -> Member | None:
        match = MEMBER.fullmatch(line.text)
        if match is None:
            self.fault(line, f"expected '{what}', got '{_short(line.text)}'.", _better_member(line.text, what), place)
            return None
        try:
            return Member(parse_key(match[1]), (match[2] or "").strip(" \t"), line)
        except ValueError as error:
            self.fault(line, f"the name is not valid: {error}.", "", place)
            return None

    def _item(self, line: Line, place: Place) -> JsonValue:
        if not _is_item(line):
            self.fault(line, f"expected '- item', got '{_short(line.text)}'.", "Start each item with '- '.", place)
            return None
        if line.block is not None:
            return line.block
        raw = line.text[1:].strip(" \t")
        if not raw and line.children:
            return self.nested(line.children, place)
        if line.children:
            self.fault(line.children[0], "unexpected lines below an item.", "Write long text after '- |'.", place)
            return None
        return self._word(line, raw, "", place)

    def _word(self, line: Line, raw: str, who: str, place: Place) -> JsonValue:
        try:
            return parse_scalar(raw)
        except ValueError as error:
            self.fault(line, f"{who}{error}.", "", place)
            return None

    def _has_lines_below(self, member: Member, place: Place) -> bool:
        below = member.line.children
        if below:
            self.fault(
                below[0],
                f"unexpected lines below '{member.name}'.",
                f"Write a text of several lines after '{member.name}: |', or indent the line less.",
                place,
            )
        return bool(below)


@dataclass(slots=True)
class Lines:
    """Line numbers of parsed content, by path."""

    default: int
    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)

    def below(self, part: str) -> "Lines":
        """Return the lines of what is below a part, by the path from there."""
        numbers = {path[1:]: number for path, number in self.numbers.items() if path[0] == part}
        return Lines(numbers.get((), self.default), numbers)

    def of(self, path: tuple[str, ...]) -> int:
        """Return the line of a path, else of the nearest enclosing path."""
        while path:
            if path in self.numbers:
                return self.numbers[path]
            path = path[:-1]
        return self.default


def _better_member(text: str, what: str) -> str:
    """Return the correct form of a line that is not a member."""
    if what == TRIGGER and (spaced := _SPACE_IN_NAME.match(text)):
        return f'Put the name in quotes: "{spaced[1]}": {_short(spaced[2])}'
    if text.startswith("-"):
        return f"Write it as '{what}', without a dash."
    if tight := _SPACE_MISSING.fullmatch(text):
        return f"Put a space after the colon: {tight[1]}: {_short(tight[2])}"
    if spaced := _SPACE_IN_NAME.match(text):
        return f"A name must not contain spaces: {'_'.join(spaced[1].lower().split())}: {_short(spaced[2])}"
    return f"Write it as '{what}'."


def _is_item(line: Line) -> bool:
    return line.text == "-" or line.text.startswith("- ")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _error_text(build: type[BaseModel], path: tuple[str, ...], error: ErrorDetails) -> tuple[str, str]:
    """Return message and remedy of one pydantic error."""
    name, kind, given = path[-1] if path else "", error["type"], error.get("input")
    if kind == "extra_forbidden":
        known = _members_of(build, path[:-1])
        return f"unknown name '{name}'{did_you_mean(name, known) or '.'} Known: {listed(known, most=20)}.", ""
    if kind in {"enum", "literal_error"} and isinstance(given, str):
        options = re.findall(r"'([^']*)'", str(error.get("ctx", {}).get("expected", "")))
        return (
            f"'{name}' cannot be '{_short(given)}'{did_you_mean(given, options) or '.'}",
            f"Choose one of: {listed(options, most=20)}.",
        )
    if kind == "missing":
        return f"'{name}' is missing.", f"Add '{name}: ...'."
    if kind == "string_type" and isinstance(given, bool | int | float):
        return f"'{name}' is a text, not a number or a yes or no.", f'Write it in quotes: "{given}".'
    message = error["msg"].removeprefix("Value error, ")
    return (f"'{name}': {message[:1].lower()}{message[1:]}." if name else f"{message}."), ""


def _members_of(build: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    """Return member names of the model at a path inside a model."""
    model = build
    for part in path:
        info = model.model_fields.get(part)
        inner = next((model for model in _models_in(info.annotation) if info), None) if info else None
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _models_in(hint: object) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for part in getattr(hint, "__args__", ()):
        yield from _models_in(part)
