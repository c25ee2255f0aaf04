"""Parses JSON as written by users and models."""

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
"""Maximum length of a parsed text, in characters."""


def parse_json(text: str, *, subject: str, error_of: Callable[[str], ComponentError] | None = None) -> JsonValue:
    """Return the value of a JSON text; accepts a Markdown code fence, a byte order mark and JSON Lines.

    Integers over 64 bits become decimals. Raises `ComponentError` with line, column and the text at that position.

    Args:
        text: The text.
        subject: The component, for the message.
        error_of: Creates the error from its reason, for a more specific message.
    """
    if len(text) > LONGEST:
        raise ComponentError(f"{subject}: the text has {len(text)} characters; at most {LONGEST} are parsed as JSON.")
    source = strip_fence(text)
    try:
        return cast("JsonValue", orjson.loads(source))
    except orjson.JSONDecodeError as error:
        lines = _json_lines(source)
        if lines is not None:
            return lines
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
        if error_of is not None:
            raise error_of(reason) from error
        if not source:
            raise ComponentError(f"{subject}: the text is not JSON: it is empty.", remedy="Check the input.") from error
        raise ComponentError(
            f"{subject}: the text is not JSON: {reason}. It begins: {clipped(source, 80)}",
            remedy="Check the input; JSON uses double quotes and no comments.",
        ) from error


def is_json_type(media_type: str) -> bool:
    """Return whether a media type, without parameters, is a JSON type."""
    return media_type == "application/json" or media_type.endswith(("+json", "/json"))


def strip_fence(text: str) -> str:
    """Return the content of the first Markdown code fence when no JSON precedes it, else the text, stripped."""
    stripped = text.strip().removeprefix("\ufeff").strip()
    if "```" not in stripped or stripped[:1] in "[{":
        return stripped
    block = first_block(stripped)
    if block is None and (line := _ONE_LINE_FENCE.fullmatch(stripped)):
        block = line[1]
    return stripped if block is None else block.strip()


def _json_lines(text: str) -> JsonValue | None:
    """Return a list when the text is two or more lines of JSON objects or lists; None otherwise."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip()[0] in "{[" for line in lines):
        return None
    try:
        return [cast("JsonValue", orjson.loads(line)) for line in lines]
    except orjson.JSONDecodeError:
        return None
