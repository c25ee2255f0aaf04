"""How users write small things into one-line fields."""

from contextlib import suppress

import orjson

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}


def unescaped(text: str) -> str:
    r"""The text with `\n`, `\t` and `\\` as typed into a one-line field turned into what they stand for."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        pair = text[at : at + 2]
        pieces.append(_ESCAPES.get(pair, text[at]))
        at += 2 if pair in _ESCAPES else 1
    return "".join(pieces)


def listed_text(value: object) -> object:
    """A list written as text: as JSON, one item a line, or separated by commas; anything else as it is."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
    pieces = value.splitlines() if "\n" in value.strip() else value.split(",")
    return [piece.strip() for piece in pieces if piece.strip()]
