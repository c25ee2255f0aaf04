"""Metadata and conditions as they are written in options and tables: `year=2026`, `year>=2024`. Pure."""

import re
from collections.abc import Sequence
from typing import Any

import orjson

from headgate.foundation.errors import Invalid

_CONDITION = re.compile(r"(?P<none>!?)(?P<key>\w[\w.-]*)(?:(?P<test>>=|<=|=)(?P<value>.*))?", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def metadata_of(options: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the metadata of options; None without one. Raises `Invalid`."""
    values = {}
    for option in options or ():
        key, separator, value = option.partition("=")
        if not separator:
            raise Invalid(f"'{option[:100]}' is not of the form KEY=VALUE.", remedy="For example: year=2026.")
        values[key.strip()] = _value(value)
    return values or None


def conditions_of(options: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the conditions of options, the bounds of a key as one range. Raises `Invalid`."""
    conditions: list[dict[str, Any]] = []
    ranges: dict[str, dict[str, Any]] = {}
    for option in options or ():
        match = _CONDITION.fullmatch(option.strip())
        if match is None or (match["none"] and match["test"]):
            raise Invalid(f"'{option[:100]}' is no condition.", remedy="For example: team=sales, year>=2024, !draft.")
        key, value = match["key"], match["value"]
        if match["test"] is None:
            conditions.append({"key": key, "exists": not match["none"]})
        elif match["test"] == "=":
            choices = [_value(choice) for choice in value.split("|")]
            conditions.append({"key": key, "in": choices} if len(choices) > 1 else {"key": key, "equals": choices[0]})
        else:
            if key not in ranges:
                ranges[key] = {"key": key}
                conditions.append(ranges[key])
            ranges[key]["at_least" if match["test"] == ">=" else "at_most"] = _value(value)
    return conditions


def _value(text: str) -> bool | float | str:
    if text in {"true", "false"}:
        return text == "true"
    value: float | str = orjson.loads(text) if _NUMBER.fullmatch(text) and not re.match(r"-?0\d", text) else text
    return value
