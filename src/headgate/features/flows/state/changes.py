"""What a change makes of a value. Pure."""

import json
import re

from pydantic import JsonValue

from headgate.features.flows.state.errors import StateInvalid
from headgate.foundation.canonical import SAFE_INTEGER
from headgate.sdk.state import StateChange, StateType, has_type

MOST_BYTES = 65_536
MOST_NAMES = 100
MOST_VALUES = 100
_KINDS = {bool: "a Boolean", str: "text", dict: "an object", list: "a list", int: "a number", float: "a number"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def check_name(name: str) -> None:
    """Raise `StateInvalid` for a name that no value may have."""
    if not _NAME.fullmatch(name):
        raise StateInvalid(
            f"'{name[:100]}' cannot be the name of a state.",
            remedy="Use up to 64 letters, digits, dots, hyphens and underscores; the first is a letter or digit.",
        )


def size_of(name: str, value: JsonValue) -> int:
    """Return the bytes of a value as JSON. Raises `StateInvalid` for one that is too large."""
    size = len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise StateInvalid(
            f"The value of state '{name}' has {size:,} bytes; {MOST_BYTES:,} is the most.",
            remedy="Store less, for example the last item or its id.",
        )
    return size


def changed(change: StateChange, current: JsonValue) -> JsonValue:
    """Return the new value. Raises `StateInvalid` when the current one does not allow the change."""
    if change.operation == "increment":
        return _sum(change, current)
    if change.operation == "append":
        items = [] if current is None else current
        if not isinstance(items, list):
            raise _wrong_type(change.name, current, "a list")
        return [*items, change.value][-change.most :]
    return change.value


def check_type(name: str, value: JsonValue, type_: StateType) -> None:
    """Raise `StateInvalid` for a value that does not have the declared type."""
    if not has_type(value, type_):
        raise StateInvalid(
            f"The value of state '{name}' is {_KINDS.get(type(value), 'null')}, and its declared type is {type_}.",
            remedy="Nothing was written. Write a value of this type, or declare another type in WriteState.",
        )


def _sum(change: StateChange, current: JsonValue) -> int | float:
    before = 0 if current is None else current
    if isinstance(before, bool) or not isinstance(before, int | float):
        raise _wrong_type(change.name, current, "a number")
    if isinstance(change.value, bool) or not isinstance(change.value, int | float):
        raise StateInvalid(f"State '{change.name}' can only be incremented by a number.", remedy="Give a number.")
    total = before + change.value
    if not abs(total) <= SAFE_INTEGER:
        raise StateInvalid(f"State '{change.name}' would be larger than {SAFE_INTEGER}.", remedy="Set it to 0.")
    return total


def _wrong_type(name: str, current: JsonValue, expected: str) -> StateInvalid:
    return StateInvalid(
        f"State '{name}' is {_KINDS.get(type(current), 'null')}, not {expected}.",
        remedy="Set it to another value, or use another name.",
    )
