"""Conditions on values, with the comparisons that users expect."""

from typing import Literal

from pydantic import JsonValue

from headgate.components.expressions import compiled
from headgate.graph.names import clipped
from headgate.sdk import ComponentError
from headgate.sdk.coerce import clean_text, describe, text_of

Operator = Literal[
    "contains",
    "does not contain",
    "equals",
    "does not equal",
    "is greater than",
    "is at least",
    "is less than",
    "is at most",
    "is empty",
    "is not empty",
    "matches",
]
_NEGATIONS: dict[str, Operator] = {
    "does not contain": "contains",
    "does not equal": "equals",
    "is not empty": "is empty",
    "is at least": "is less than",
    "is at most": "is greater than",
}
_WITHOUT_COMPARE = frozenset({"is empty", "is not empty", "equals", "does not equal"})
"""Operators that accept an empty comparison value."""


def holds(value: JsonValue, operator: Operator, compare: str, *, ignore_case: bool = True) -> bool:
    """Whether the value satisfies the condition. Greater and less compare numbers; a list or object counts by length.

    Raises `ComponentError` when it is undefined: no comparison value, text compared with a number.
    """
    if not compare and operator not in _WITHOUT_COMPARE:
        raise ComponentError(
            f"If: the operator '{operator}' requires a value to compare with.",
            remedy="Fill 'compare'.",
            field="compare",
        )
    if operator in _NEGATIONS:
        return not holds(value, _NEGATIONS[operator], compare, ignore_case=ignore_case)
    if operator == "is empty":
        return is_empty(value)
    if operator == "equals":
        return _equals(value, compare, ignore_case=ignore_case)
    if operator == "contains":
        return _contains(value, compare, ignore_case=ignore_case)
    if operator == "matches":
        regex = compiled(compare, ignore_case=ignore_case, subject="If")
        return regex.search(clean_text(text_of(value))) is not None
    left, right = _number(value, "value"), _number(compare, "compare")
    return left > right if operator == "is greater than" else left < right


def is_empty(value: JsonValue) -> bool:
    """Return whether it is null, blank text, or a list or object without members."""
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, list | dict) and not value)
    )


def folded(text: str, *, ignore_case: bool) -> str:
    """Return text for comparison: without outer whitespace, and without case when `ignore_case` is set."""
    return text.strip().casefold() if ignore_case else text.strip()


def _equals(value: JsonValue, compare: str, *, ignore_case: bool) -> bool:
    """Compare numbers as numbers, true and false by name, everything else as text."""
    if isinstance(value, bool):
        return compare.strip().lower() == str(value).lower()
    if isinstance(value, int | float):
        try:
            return value == _number(compare, "compare")
        except ComponentError:
            return False
    return folded("" if value is None else text_of(value), ignore_case=ignore_case) == folded(
        compare, ignore_case=ignore_case
    )


def _contains(value: JsonValue, compare: str, *, ignore_case: bool) -> bool:
    """Return whether a list contains an equal item, an object a key, or any other value the text."""
    if isinstance(value, list):
        return any(_equals(item, compare, ignore_case=ignore_case) for item in value)
    if isinstance(value, dict):
        needle = folded(compare, ignore_case=ignore_case)
        return any(folded(key, ignore_case=ignore_case) == needle for key in value)
    text = "" if value is None else text_of(value)
    return compare.casefold() in text.casefold() if ignore_case else compare in text


def _number(value: JsonValue, operand: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, list | dict):
        return len(value)
    try:
        return float(str(value).strip().replace("\u00a0", "").replace(" ", ""))
    except ValueError as error:
        excerpt = f"{clipped(value, 40)!r}" if isinstance(value, str) else describe(value)
        raise ComponentError(
            f"If: {operand} is {excerpt}, which is not a number to compare.",
            remedy="Select a number with 'field', or use contains or equals.",
            field=operand,
        ) from error
