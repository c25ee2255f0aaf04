"""Long answers in pages: one rule for the assistant, MCP clients and the development agent. Pure.

An answer above the limit is a page: its longest member in part, every other member whole. `page_of` names that member,
`offset` says where the part begins, `total` how much there is, `next_offset` where the next page begins. A list is
paged by items and a text by characters, at the end of a line or word. No JSON ends inside a value.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from headgate.toolkit.flow.clipped import clipped_value, size_of

MOST_CHARACTERS = 12_000
"""Of one answer as JSON."""
OFFSET = "offset"
CURSORS = frozenset({OFFSET, "after", "before"})
"""Arguments of tools that page their answers themselves."""
_MOST_DEPTH = 4
_SMALLEST_PAGE = 4
"""A page is at least the limit divided by this; where the other members leave less, they are clipped."""

Answer = dict[str, JsonValue]
Path = tuple[Any, ...]
"""Names of members and numbers of items, from the answer inwards."""


def paged(answer: Mapping[str, Any], offset: int = 0, *, most: int = MOST_CHARACTERS) -> Answer:
    """The answer as it is where it is within the limit and read from its beginning; else the page at `offset`."""
    complete = dict(answer)
    if size_of(complete) <= most and (offset <= 0 or "error" in complete):
        return complete
    path = _longest(complete, most)
    if not path:
        return complete
    value = _at(complete, path)
    rest = _with(complete, path, None)
    if size_of(rest) > most - most // _SMALLEST_PAGE:
        rest = {name: member if name == path[0] else clipped_value(member, most // 10) for name, member in rest.items()}
    room = max(most - size_of(rest) - 100, most // _SMALLEST_PAGE)
    start = min(max(offset, 0), len(value))
    part, end = _part(value, start, room)
    page: Answer = _with(rest, path, part)
    page |= {"page_of": ".".join(map(str, path)), OFFSET: start, "total": len(value)}
    return page | ({"next_offset": end} if end < len(value) else {})


def page_of_text(text: str, offset: int, most: int) -> Answer:
    """A part of a text as `value`; where it is not the whole, with `offset`, `total` and `next_offset`."""
    start = min(max(offset, 0), len(text))
    end = _end_of_text(text, start, most)
    page: Answer = {"value": text[start:end]}
    if (start, end) != (0, len(text)):
        page |= {OFFSET: start, "total": len(text)}
    return page | ({"next_offset": end} if end < len(text) else {})


def with_offset(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of arguments with `offset`."""
    return {**schema, "properties": {**schema.get("properties", {}), OFFSET: {"type": "integer"}}}


def described_offset(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of arguments with a description of `offset`, for clients that read no instructions."""
    offset = schema.get("properties", {}).get(OFFSET)
    if not offset or offset.get("description"):
        return schema
    described = {**offset, "description": "Start of the page: next_offset of the previous one."}
    return {**schema, "properties": {**schema["properties"], OFFSET: described}}


def offset_of(arguments: Mapping[str, Any]) -> int:
    """The offset in the arguments of a call; 0 where there is none that can be used."""
    value = arguments.get(OFFSET, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _longest(answer: Answer, most: int) -> Path:
    """Where the longest text, list or object of small members is."""
    path: Path = ()
    value: Any = answer
    while len(path) < _MOST_DEPTH and isinstance(value, dict | list):
        named = value.items() if isinstance(value, dict) else enumerate(value)
        sized = {name: size_of(member) for name, member in named if isinstance(member, str | list | dict)}
        name = max(sized, key=lambda each: sized[each], default=None)
        if name is None:
            break
        if path and (sized[name] <= most if isinstance(value, list) else sized[name] * 2 < sum(sized.values())):
            break  # many members, none of which is most of it: the list or object itself is paged
        path, value = (*path, name), value[name]
    return path


def _at(answer: Answer, path: Path) -> Any:  # noqa: ANN401 - JSON
    value: Any = answer
    for name in path:
        value = value[name]
    return value


def _with(answer: Any, path: Path, value: JsonValue) -> Any:  # noqa: ANN401 - JSON
    """The answer with another value in one place."""
    if not path:
        return value
    copy = answer.copy()
    copy[path[0]] = _with(answer[path[0]], path[1:], value)
    return copy


def _part(value: Any, start: int, room: int) -> tuple[JsonValue, int]:  # noqa: ANN401 - JSON
    """A part of a value that fits, and where it ends; one item in any case, clipped where it is longer than a page."""
    if isinstance(value, str):
        end = _end_of_text(value, start, room)
        return value[start:end], end
    items: list[Any] = list(value.items()) if isinstance(value, dict) else list(value)
    end = start
    for item in items[start:]:
        room -= size_of(item) + 1
        if room < 0 and end > start:
            break
        end += 1
    part: list[Any] = items[start:end]
    if len(part) == 1 and room < 0:
        part = [clipped_value(part[0], max(200, room + size_of(part[0])))] if isinstance(value, list) else part
    return (dict(part) if isinstance(value, dict) else part), end


def _end_of_text(text: str, start: int, room: int) -> int:
    """Where a part ends: behind the last line, else the last word, else inside a word that is longer than a page."""
    end = min(len(text), start + room)
    while end - start > 1 and size_of(text[start:end]) > room + 2:
        end = start + (end - start) * 9 // 10
    if end == len(text):
        return end
    least = start + (end - start) // 2
    for sign in ("\n", " "):
        at = text.rfind(sign, least, end)
        if at >= 0:
            return at + 1
    return max(end, start + 1)
