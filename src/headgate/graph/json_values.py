"""Valid JSON values of a flow, which every database, browser and language preserves exactly."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, cast

from pydantic import AfterValidator, JsonValue

MAX_DEPTH = 64
"""Maximum nesting of lists and objects."""
TOO_DEEP = f"lists and objects are nested deeper than {MAX_DEPTH} levels"
SMALLEST_INTEGER = -(2**63)
LARGEST_INTEGER = 2**64 - 1
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def plain_text(text: str) -> str:
    """Return the text, if every database can store it: no NUL, no lone surrogates. Raises `ValueError`."""
    if _UNSTORABLE.search(text):
        raise ValueError("text contains a NUL character or half of a surrogate pair, which cannot be stored")
    return text


def plain_json(value: JsonValue) -> JsonValue:
    """Return the value, if storage and transport preserve it. Raises `ValueError` with the reason."""
    waiting: list[tuple[JsonValue, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, (list, dict)):
            if depth >= MAX_DEPTH:
                raise ValueError(TOO_DEEP)
            waiting.extend((inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item))
            if isinstance(item, dict):
                waiting.extend((name, depth + 1) for name in item)
        else:
            _plain_scalar(item)
    return value


def _plain_scalar(value: object) -> None:
    if isinstance(value, str):
        plain_text(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number must be finite; JSON has no NaN and no infinity")
    elif isinstance(value, int) and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        raise ValueError("an integer must fit in 64 bits; write a longer one as text")


PlainText = Annotated[str, AfterValidator(plain_text)]
PlainJson = Annotated[JsonValue, AfterValidator(plain_json)]
PlainObject = Annotated[dict[str, JsonValue], AfterValidator(plain_json)]


def parse_json(text: str) -> JsonValue:
    """Return the value of external JSON text. Raises `ValueError`, never `RecursionError`; NaN is rejected."""
    depth = 0
    for step in bracket_steps(text):
        depth += step
        if depth > MAX_DEPTH:
            raise ValueError(TOO_DEEP)
    value = cast("JsonValue", json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_duplicates))
    return plain_json(value)


def bracket_steps(text: str) -> Iterator[int]:
    """Yield 1 for each opening bracket in a JSON text and -1 for each closing one, except in strings."""
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in ("[", "{"):
            yield 1
        elif match[0] in ("]", "}"):
            yield -1


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _without_duplicates(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"member '{twice}' appears twice")
    return members


def made_plain(value: JsonValue, depth: int = 0) -> JsonValue:
    """Return the value with everything replaced that `plain_json` rejects, for storing untrusted values."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, (list, dict)) and depth >= MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, dict):
        return {str(made_plain(name, depth + 1)): made_plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [made_plain(item, depth + 1) for item in value]
    try:
        _plain_scalar(value)
    except ValueError:
        return str(value)[:100] if isinstance(value, float) else "[a number that is too long]"
    return value
