"""State of a flow: values that last between its runs."""

from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

Operation = Literal["set", "increment", "append"]
StateType = Literal["any", "text", "number", "boolean", "object", "list", "table"]


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of one value."""

    name: str
    operation: Operation
    value: JsonValue
    """The new value, the number to add, or the item to append."""
    most: int = 100
    """Append: items that are kept, the newest."""
    expected_version: int | None = None
    """Fails unless the value has this version; 0: unless there is no value yet. None: whatever it is."""
    type: StateType = "any"
    """The declared type, with which the new value must comply; any: that of the value before."""


def has_type(value: JsonValue, type_: StateType) -> bool:
    """Return whether a value has a type; a table is a list of objects."""
    match type_:
        case "text":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "list":
            return isinstance(value, list)
        case "table":
            return isinstance(value, list) and all(isinstance(row, dict) for row in value)
        case "any":
            return True


@dataclass(frozen=True, slots=True)
class StateValue:
    """A value and its version."""

    value: JsonValue
    version: int
    """Counts the values of a name from 1; 0 when there is none."""
    previous: JsonValue = None
    """After a change: the value before it."""


class State(Protocol):
    """The state of the flow that the step is in."""

    async def read(self, name: str) -> StateValue:
        """Return the value of a name; null with version 0 when there is none. Raises `Invalid` for a bad name."""

    async def write(self, change: StateChange) -> StateValue:
        """Change a value, once per step of a run: a repeated attempt returns what the first one wrote.

        Raises `Conflict` for another version than the expected one, `Invalid` for an impossible change.
        """
