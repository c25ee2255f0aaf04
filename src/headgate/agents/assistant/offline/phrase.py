"""A stretch of a request that one recipe takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.agents.assistant.offline.reading.columns import Column, Formula
from headgate.agents.assistant.offline.reading.conditions import Condition
from headgate.agents.assistant.offline.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch of the request that is a recipe."""

    recipe: Recipe
    slots: Mapping[str, Any]
    start: int
    end: int
    score: float

    @property
    def missing(self) -> tuple[str, ...]:
        """Columns that it names and that the data does not have."""
        return tuple(dict.fromkeys(name for value in self.slots.values() for name in _missing(value)))


def _missing(value: Any) -> Iterable[str]:  # noqa: ANN401 - the value of any slot
    if isinstance(value, Column):
        return [value.name] if value.missing else []
    if isinstance(value, Formula):
        return [column.name for column in value.columns if column.missing]
    if isinstance(value, Condition):
        return [test.column[1:] for test in value.tests if test.column.startswith("?")]
    return [name for each in value for name in _missing(each)] if isinstance(value, tuple) else []
