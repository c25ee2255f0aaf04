"""Reduces the results of many items to one value."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from pydantic import JsonValue

from headgate.components.data.selecting import select
from headgate.graph.names import clipped
from headgate.graph.ports import PortType
from headgate.sdk import ComponentError, Table
from headgate.sdk.coerce import ValueMismatch, data_of, describe, table_of, text_of

Reduction = Literal["none", "sum", "mean", "min", "max", "count", "first", "last", "join", "merge", "rows"]
MEMBER = r"[A-Za-z_]\w{0,63}(?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\]){0,10}"
Number = int | float
_TYPES = {"join": PortType.TEXT, "rows": PortType.TABLE}


def reduced_type(how: JsonValue) -> PortType | None:
    """Return the port type of a reduction; None where there is none."""
    if not isinstance(how, str) or how not in _OF_NUMBERS | _OF_VALUES:
        return None
    return _TYPES.get(how, PortType.DATA)


def reduce(values: Mapping[int, JsonValue], how: Reduction, member: str, *, subject: str) -> Any:  # noqa: ANN401 - a port value
    """Return one value for the results of items.

    Args:
        values: Number of the item to its result; without failed items.
        how: The reduction.
        member: Path of the member of each result that is reduced; empty: the result.
        subject: The component, for errors.

    Raises:
        ComponentError: A result does not have the type that the reduction needs.
    """
    chosen = {index: _member(value, member, index, subject) for index, value in values.items()}
    if how in _OF_NUMBERS:
        return _OF_NUMBERS[how]([_number(value, index, how, subject) for index, value in chosen.items()])
    try:
        return _OF_VALUES[how](list(chosen.values()))
    except ValueMismatch as error:
        raise _refused(f"the results cannot be reduced by {how}: {error}", subject) from error


def number_of(value: JsonValue) -> Number | None:
    """Return a finite number, which may be written as text; None for anything else."""
    if isinstance(value, str):
        for kind in (int, float):
            with suppress(ValueError):
                return number_of(kind(value.strip()))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def _member(value: JsonValue, path: str, index: int, subject: str) -> JsonValue:
    if not path:
        return value
    if not re.fullmatch(MEMBER, path):
        raise _refused(f"{clipped(path, 60)!r} is not a member of a result", subject)
    part = select(path, value, subject=subject, location="reduce_of")
    if part is None:
        raise _refused(f"the result of item {index} (counted from 0) has no '{path}'", subject)
    return part


def _number(value: JsonValue, index: int, how: str, subject: str) -> Number:
    number = number_of(value)
    if number is None:
        raise _refused(
            f"{how} needs numbers, and the result of item {index} (counted from 0) is {describe(value)}", subject
        )
    return number


def _refused(reason: str, subject: str) -> ComponentError:
    return ComponentError(
        f"{subject}: {reason}.",
        remedy="Name the member of each result in 'reduce_of', for example order.total, or choose another reduction.",
        field="reduce_of",
    )


def _sum(numbers: Sequence[Number]) -> Number:
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)


def _mean(numbers: Sequence[Number]) -> Number | None:
    return math.fsum(numbers) / len(numbers) if numbers else None


def _merged(values: Sequence[JsonValue]) -> dict[str, JsonValue]:
    """Return the members of all objects; later ones have precedence."""
    merged: dict[str, JsonValue] = {}
    for value in values:
        if not isinstance(value, dict):
            raise ValueMismatch(f"{describe(value)} is not an object")
        merged |= value
    return merged


def _rows(values: Sequence[JsonValue]) -> Table:
    """Return the rows of all tables; an object is one row."""
    tables = [table_of([value] if isinstance(value, dict) else value) for value in values]
    return Table.from_records([row for table in tables for row in table.records()])


_OF_NUMBERS: dict[str, Callable[[Sequence[Number]], Number | None]] = {
    "sum": _sum,
    "mean": _mean,
    "min": lambda numbers: min(numbers, default=None),
    "max": lambda numbers: max(numbers, default=None),
}
_OF_VALUES: dict[str, Callable[[Sequence[JsonValue]], Any]] = {
    "count": len,
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "join": lambda values: "\n".join(text_of(data_of(value)) for value in values),
    "merge": _merged,
    "rows": _rows,
}
