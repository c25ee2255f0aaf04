"""Metadata of documents: typed values under keys, and conditions on them.

A value is a text, a number, a date or a boolean. A text that is a date of ISO 8601, such as `2026-01-31`, is a date: in
documents and conditions alike. Values are compared with values of their type only.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_validator,
)

from headgate.graph.json_values import PlainText

MOST_KEYS = 50
"""Values of one document."""
LONGEST_TEXT = 500
MOST_NUMBER = 10**15
MOST_CONDITIONS = 10
MOST_CHOICES = 100
Kind = Literal["text", "number", "date", "boolean"]
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?")
_DAY = timedelta(days=1).total_seconds()
_MOMENT = 1e-6
Key = Annotated[str, Field(pattern=r"^\w[\w.-]{0,63}$")]


def _finite(value: float) -> float:
    if not math.isfinite(value) or abs(value) > MOST_NUMBER:
        raise ValueError(f"the number is not between -{MOST_NUMBER} and {MOST_NUMBER}")
    return value


Number = Annotated[StrictInt | StrictFloat, AfterValidator(_finite)]
Value = StrictBool | Number | Annotated[PlainText, Field(max_length=LONGEST_TEXT)]
Metadata = Annotated[
    dict[Key, Value],
    Field(
        max_length=MOST_KEYS,
        description="Texts, numbers, booleans, and dates of ISO 8601, under keys; searches can be limited by them.",
    ),
]


@dataclass(frozen=True, slots=True)
class Typed:
    """A value as it is stored: the number is what numbers, dates (seconds since 1970) and booleans are compared by."""

    kind: Kind
    text: str
    number: float | None
    until: float | None = None
    """The end of a day, for a date without a time."""


def typed(value: bool | float | str) -> Typed:  # noqa: FBT001 - a value
    """Return a value with its type."""
    if isinstance(value, bool):
        return Typed("boolean", "true" if value else "false", float(value))
    if isinstance(value, int | float):
        return Typed("number", orjson.dumps(value).decode(), float(value))
    moment = _moment(value)
    if moment is None:
        return Typed("text", value, None)
    return Typed("date", value, moment, moment + _DAY - _MOMENT if len(value) == len("2026-01-31") else None)


def value_of(kind: str, text: str) -> bool | float | str:
    """Return a stored value."""
    value: bool | float | str = orjson.loads(text) if kind in {"number", "boolean"} else text
    return value


def _moment(text: str) -> float | None:
    """Return the seconds since 1970 of a date of ISO 8601, in UTC unless it says otherwise; None for another text."""
    if not _DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


class Condition(BaseModel):
    """What the metadata of a document must have: exactly one of equals, in, a range, or exists."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True)

    key: Key
    equals: Value | None = None
    any_of: list[Value] | None = Field(default=None, alias="in", min_length=1, max_length=MOST_CHOICES)
    at_least: Value | None = Field(default=None, description="The lowest number or first date of a range.")
    at_most: Value | None = Field(default=None, description="The highest number or last date, which it includes.")
    exists: StrictBool | None = Field(default=None, description="Whether the document has a value under the key.")

    @property
    def written(self) -> dict[str, Any]:
        """Return it as requests have it, with its test only."""
        return self.model_dump(by_alias=True, exclude_none=True)

    @model_validator(mode="after")
    def _one_test(self) -> Self:
        bounds = [typed(value) for value in (self.at_least, self.at_most) if value is not None]
        tests = [self.equals is not None, self.any_of is not None, bool(bounds), self.exists is not None]
        if sum(tests) != 1:
            raise ValueError("a condition has exactly one of equals, in, a range of at_least and at_most, and exists")
        if {bound.kind for bound in bounds} not in ({"number"}, {"date"}, set()):
            raise ValueError("the bounds of a range are two numbers or two dates, such as 2026-01-31")
        return self


Conditions = Annotated[
    list[Condition],
    Field(max_length=MOST_CONDITIONS, description="Conditions on the metadata of documents: all of them must be met."),
]


class MetadataField(BaseModel):
    """A key that documents have, with the values that most of them have."""

    key: str
    kind: Kind
    documents: int
    values: list[StrictBool | StrictInt | StrictFloat | str]
