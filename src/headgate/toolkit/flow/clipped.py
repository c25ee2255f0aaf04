"""Truncated values, each with a mark of the omitted length. Pure.

Truncation keeps the structure: an object keeps its members, a list its first items, and no JSON ends within a string.
"""

import orjson
from pydantic import JsonValue

MOST_ITEMS = 20


def clipped_value(value: JsonValue, most: int) -> JsonValue:
    """Return a value with texts of at most about `most` characters and lists of at most `MOST_ITEMS` items."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}… [{len(value) - most:,} more characters]"
    if size_of(value) <= most:
        return value
    inner = max(40, most // 4)
    if isinstance(value, dict):
        items = list(value.items())
        short: dict[str, JsonValue] = {name: clipped_value(member, inner) for name, member in items[:MOST_ITEMS]}
        return short | ({"…": f"{len(items) - MOST_ITEMS:,} more members"} if len(items) > MOST_ITEMS else {})
    if isinstance(value, list):
        shown = [clipped_value(item, inner) for item in value[:MOST_ITEMS]]
        return [*shown, f"… [{len(value) - MOST_ITEMS:,} more items]"] if len(value) > MOST_ITEMS else shown
    return value


def size_of(value: JsonValue) -> int:
    """Return the approximate length of a value as JSON."""
    return len(orjson.dumps(value))
