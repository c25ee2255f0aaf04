"""Values in short: each clipped on its own, with a mark that says how much is left. Pure.

What is clipped stays what it was: an object keeps its members, a list its first items, and no JSON ends in mid-string.
"""

import orjson
from pydantic import JsonValue

MOST_ITEMS = 20


def clipped_value(value: JsonValue, most: int) -> JsonValue:
    """A value of which each text has at most about `most` characters and each list at most `MOST_ITEMS` items."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}… [{len(value) - most:,} more characters]"
    if size_of(value) <= most:
        return value
    inner = max(40, most // 4)
    if isinstance(value, dict):
        items = list(value.items())
        short: dict[str, JsonValue] = {name: clipped_value(one, inner) for name, one in items[:MOST_ITEMS]}
        return short | ({"…": f"{len(items) - MOST_ITEMS:,} more members"} if len(items) > MOST_ITEMS else {})
    if isinstance(value, list):
        shown = [clipped_value(one, inner) for one in value[:MOST_ITEMS]]
        return [*shown, f"… [{len(value) - MOST_ITEMS:,} more items]"] if len(value) > MOST_ITEMS else shown
    return value


def size_of(value: JsonValue) -> int:
    """Characters of a value as JSON, about."""
    return len(orjson.dumps(value))


def page_of_text(text: str, offset: int, most: int) -> dict[str, JsonValue]:
    """A part of a text: `value`, and where it is not the whole, `offset`, `total_chars` and `next_offset`."""
    start = min(max(offset, 0), len(text))
    part = text[start : start + most]
    page: dict[str, JsonValue] = {"value": part}
    if part != text:
        page |= {"offset": start, "total_chars": len(text)}
    if start + most < len(text):
        page["next_offset"] = start + most
    return page
