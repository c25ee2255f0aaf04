"""`{{path.to.value}}`: finds references in text and replaces them by values.

A reference is two braces, a path of segments joined by dots, two braces; spaces inside the braces are ignored. A
segment is any run of characters except whitespace, dots and braces, so every script works. A path accesses objects by
member and lists by index; JSON text is parsed on the way. Unresolved references stay unchanged. Inserted values are
never scanned for references again, so a value cannot inject one.

| value          | in text        | in text with `json_safe`                    |
|----------------|----------------|---------------------------------------------|
| text           | unchanged      | escaped for the inside of a JSON string     |
| number         | as JSON        | as JSON                                     |
| true, false    | as JSON        | as JSON                                     |
| null           | nothing        | `null`                                      |
| object or list | as JSON        | as JSON, for use outside quotes             |
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import overload

from pydantic import JsonValue

REFERENCE = re.compile(r"\{\{\s*([^\s{}.]+(?:\.[^\s{}.]+)*)\s*\}\}")
LARGEST_TEXT_READ_AS_JSON = 1_048_576
"""Maximum characters; longer text is not searched."""
_LONGEST_INDEX = 9
_MISSING = object()
Shown = Callable[[str, str], str]
"""Maps the root of a reference and its value as text to the inserted text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One `{{...}}` in a text."""

    path: tuple[str, ...]
    start: int
    """Offset of the first brace."""
    end: int
    """Offset after the last brace."""

    @property
    def root(self) -> str:
        """Return the first word: `flow_input`, a node id or an alias such as `step_2`."""
        return self.path[0]

    def __str__(self) -> str:
        return "{{" + ".".join(self.path) + "}}"


def references(text: str) -> list[Reference]:
    """Return every reference in a text, in order."""
    if "{{" not in text:
        return []
    return [Reference(tuple(m[1].split(".")), m.start(), m.end()) for m in REFERENCE.finditer(text)]


def references_in(value: JsonValue) -> Iterator[Reference]:
    """Yield every reference in the texts of a JSON value. Member names are ignored."""
    for text in texts_in(value):
        yield from references(text)


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield every text in a JSON value, depth first, without member names."""
    waiting: list[JsonValue] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def map_texts(value: JsonValue, change: Callable[[str], JsonValue]) -> JsonValue:
    """Return the same JSON value with every text in it mapped. Member names stay unchanged."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: map_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [map_texts(inner, change) for inner in value]
    return value


@overload
def interpolate(
    value: str,
    context: Mapping[str, JsonValue],
    json_safe: bool = False,  # noqa: FBT001, FBT002
    shown: Shown | None = None,
) -> str: ...
@overload
def interpolate(
    value: JsonValue,
    context: Mapping[str, JsonValue],
    json_safe: bool = False,  # noqa: FBT001, FBT002
    shown: Shown | None = None,
) -> JsonValue: ...
def interpolate(
    value: JsonValue,
    context: Mapping[str, JsonValue],
    json_safe: bool = False,  # noqa: FBT001, FBT002
    shown: Shown | None = None,
) -> JsonValue:
    """Replace the references of a text, or of every text in a JSON value, by values.

    Args:
        value: Text, or an object or list with texts.
        context: Values of the first words of paths; see `context.build_context`.
        json_safe: Escape values for use inside the quotes of a JSON document.
        shown: Maps a reference's root and its value as text to the inserted text; None: the text itself.

    Returns:
        The same shape; a text stays a text. Use `resolve` to keep the type of a value that is a single reference.
    """
    lookup = _Lookup(context)
    return map_texts(value, lambda text: _interpolated_text(text, lookup, json_safe=json_safe, shown=shown))


def resolve(value: JsonValue, context: Mapping[str, JsonValue]) -> JsonValue:
    """Interpolate, but a text that is a single reference becomes the value itself.

    So `"{{rows.output}}"` returns the list, not its JSON text.
    """
    lookup = _Lookup(context)

    def one(text: str) -> JsonValue:
        match = REFERENCE.fullmatch(text)
        if match is None:
            return _interpolated_text(text, lookup)
        value = lookup.find(match[1])
        return text if value is _MISSING else value  # type: ignore[return-value]

    return map_texts(value, one)


class _Lookup:
    """Finds the value of a path, reading a JSON text at most once."""

    def __init__(self, context: Mapping[str, JsonValue]) -> None:
        self._context = context
        self._read: dict[str, object] = {}

    def find(self, path: str) -> object:
        """Return the JSON value at `path`, or `_MISSING`."""
        value: object = self._context
        for segment in path.split("."):
            if isinstance(value, str):
                value = self._inside(value)
            if isinstance(value, Mapping):
                value = value.get(segment, _MISSING)
            elif isinstance(value, list) and segment.isascii() and segment.isdigit() and len(segment) <= _LONGEST_INDEX:
                value = value[int(segment)] if int(segment) < len(value) else _MISSING
            else:
                return _MISSING
        return value

    def _inside(self, text: str) -> object:
        if text not in self._read:
            self._read[text] = _as_structure(text)
        return self._read[text]


def _interpolated_text(text: str, lookup: _Lookup, *, json_safe: bool = False, shown: Shown | None = None) -> str:
    """One text with its references replaced."""
    if "{{" not in text:
        return text

    def put(match: re.Match[str]) -> str:
        value = lookup.find(match[1])
        if value is _MISSING:
            return match[0]
        replacement = as_text(value, json_safe=json_safe)
        return replacement if shown is None else shown(match[1].partition(".")[0], replacement)

    return REFERENCE.sub(put, text)


def as_text(value: object, *, json_safe: bool = False) -> str:
    """Return a value in its text form; see the table above."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)[1:-1] if json_safe else value
    if value is None and not json_safe:
        return ""
    return json.dumps(value, ensure_ascii=False)


def _as_structure(text: str) -> object:
    if len(text) > LARGEST_TEXT_READ_AS_JSON or not text.lstrip().startswith(("{", "[")):
        return _MISSING
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _MISSING
