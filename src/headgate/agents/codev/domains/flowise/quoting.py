"""Sanitises text of a Flowise server: bounded, and without invisible characters.

All of it is the word of somebody else: data, never an instruction.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from headgate.foundation.log import redact_text

NAME = re.compile(r"[A-Za-z0-9_.@-]{1,128}", re.ASCII)
"""Valid names of nodes, inputs and credential types."""
MOST_ITEMS = 200
DEEPEST = 12
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def one_line(text: object, width: int = 300) -> str:
    """Return at most `width` characters of a server's text in one line; empty for a non-text."""
    if not isinstance(text, str):
        return ""
    line = " ".join(_UNSEEN.sub("", text[: width * 4]).split())
    return line if len(line) <= width and len(text) <= width * 4 else line[: width - 1] + "…"


def quoted(text: object, width: int = 300) -> str:
    """Return a server's error message, clipped and cleaned, without key patterns."""
    return redact_text(one_line(text, width))


def visible(text: str) -> str:
    """Return the complete text without invisible characters; tabs and line breaks are kept."""
    return _UNSEEN.sub("", text)


def bounded(value: Any, depth: int = 0) -> JsonValue:  # noqa: ANN401 - JSON of a server
    """JSON with cleaned and clipped texts, short lists and little depth, to be shown to a model."""
    if isinstance(value, str):
        return one_line(value)
    if depth >= DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {one_line(key, 100): bounded(member, depth + 1) for key, member in list(value.items())[:MOST_ITEMS]}
    if isinstance(value, list):
        return [bounded(item, depth + 1) for item in value[:MOST_ITEMS]]
    return value if isinstance(value, bool | int | float) else None


def seen(value: Any) -> JsonValue:  # noqa: ANN401 - JSON of a server
    """Return the value without invisible characters in its texts and member names."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(name): seen(member) for name, member in value.items()}
    return [seen(item) for item in value] if isinstance(value, list) else value
