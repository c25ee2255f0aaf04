"""Parses compact notations that users write in one-line fields."""

from contextlib import suppress

import orjson

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}


def unescaped(text: str) -> str:
    r"""Return the text with the escapes `\n`, `\t` and `\\` of a one-line field replaced."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        pair = text[position : position + 2]
        parts.append(_ESCAPES.get(pair, text[position]))
        position += 2 if pair in _ESCAPES else 1
    return "".join(parts)


def listed_text(value: object) -> object:
    """Return a list written as text: as JSON, one item per line, or separated by commas; other values unchanged."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
    parts = value.splitlines() if "\n" in value.strip() else value.split(",")
    return [part.strip() for part in parts if part.strip()]
