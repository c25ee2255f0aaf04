"""JSON out of text, as people and models write it."""

import re
from collections.abc import Callable
from typing import cast

import orjson
from pydantic import JsonValue

from headgate.graph.fences import first_block
from headgate.graph.names import clipped
from headgate.sdk import ComponentError

_ONE_LINE_FENCE = re.compile(r"```(?:json)?(.*)```", re.DOTALL)
LONGEST = 20_000_000
"""Longest text parsed, in characters."""


def parse_json(text: str, *, who: str, wrong: Callable[[str], ComponentError] | None = None) -> JsonValue:
    """The value of a JSON text; a Markdown code fence around it, a byte order mark and JSON Lines are understood.

    Whole numbers over 64 bits become decimals. Raises `ComponentError` with line, column and what stands there.

    Args:
        text: What to parse.
        who: Who asks, for the message.
        wrong: Makes the error from its reason, when the caller knows better what to say.
    """
    if len(text) > LONGEST:
        raise ComponentError(f"{who}: the text has {len(text)} characters; at most {LONGEST} are parsed as JSON.")
    bare = strip_fence(text)
    try:
        return cast("JsonValue", orjson.loads(bare))
    except orjson.JSONDecodeError as error:
        lines = _json_lines(bare)
        if lines is not None:
            return lines
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
        if wrong is not None:
            raise wrong(reason) from error
        raise ComponentError(
            f"{who}: the text is not JSON: {reason}. It begins: {clipped(bare, 80) or 'nothing, it is empty'}",
            remedy="Check what comes in; JSON uses double quotes and no comments.",
        ) from error


def is_json_type(media_type: str) -> bool:
    """Whether a media type, without parameters, is one of JSON's."""
    return media_type == "application/json" or media_type.endswith(("+json", "/json"))


def strip_fence(text: str) -> str:
    """The inside of the first Markdown code fence when the text has one before any JSON, else the text, stripped."""
    bare = text.strip().removeprefix("\ufeff").strip()
    if "```" not in bare or bare[:1] in "[{":
        return bare
    block = first_block(bare)
    if block is None and (line := _ONE_LINE_FENCE.fullmatch(bare)):
        block = line[1]
    return bare if block is None else block.strip()


def _json_lines(text: str) -> JsonValue | None:
    """A list when the text is two or more lines of JSON objects or lists; None otherwise."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip()[0] in "{[" for line in lines):
        return None
    try:
        return [cast("JsonValue", orjson.loads(line)) for line in lines]
    except orjson.JSONDecodeError:
        return None
