"""Components for values that last between runs of a flow."""

from contextlib import suppress
from typing import Literal

from pydantic import JsonValue, PrivateAttr

from headgate.graph.names import clipped
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Data, Table, Text, field, output
from headgate.sdk.coerce import data_of, text_of
from headgate.sdk.state import StateChange, StateValue

_NAME_HELP = "Letters, digits, dots, hyphens and underscores, for example last_order."
MOST_ITEMS = 10_000


class ReadState(Component):
    """Reads a value that an earlier run of this flow wrote with WriteState, such as a counter or a position."""

    label = "Read state"
    category = "data"
    icon = "database"
    keywords = (
        "state", "remember", "memory", "counter", "cursor", "between runs", "persist", "stored", "last run", "variable",
        "previous", "checkpoint", "load",
    )  # fmt: skip

    name: str = field(label="Name", help=_NAME_HELP, port=False, max_length=64)
    default: Data = field(
        default=None, label="Default", help="The value when there is none yet.", kind=FieldKind.JSON, port=False
    )
    _read: StateValue | None = PrivateAttr(default=None)

    @output(help="The value, or the default.")
    async def value(self) -> Data:
        """Return the value."""
        stored = await self._value()
        return stored.value if stored.version else self.default

    @output(help="The value as text.")
    async def text(self) -> Text:
        """Return the value as text."""
        value = await self.value()
        return "" if value is None else text_of(value)

    @output(help="Its version, counted from 1; 0 when there is no value yet. Connect it to WriteState to compare.")
    async def version(self) -> Data:
        """Return the version."""
        return (await self._value()).version

    async def _value(self) -> StateValue:
        if self._read is None:
            self._read = await self.ctx.state.read(self.name)
        return self._read


class WriteState(Component):
    """Writes a value for later runs of this flow: sets it, adds to a number, or appends to a list.

    A step writes once, also when it is repeated after its worker died.
    """

    label = "Write state"
    category = "data"
    icon = "database"
    effect = True
    keywords = (
        "state", "remember", "memory", "counter", "increment", "append", "cursor", "between runs", "persist", "store",
        "count", "checkpoint", "save value", "compare and swap",
    )  # fmt: skip

    name: str = field(label="Name", help=_NAME_HELP, port=False, max_length=64)
    value: str | Data | Table = field(
        default=None,
        label="Value",
        help="The value to set, the number to add (empty: 1), or the item to append.",
        main=True,
    )
    operation: Literal["set", "increment", "append"] = field(
        default="set", label="Operation", help="set: replace it; increment: add to a number; append: add to a list."
    )
    most: int = field(
        default=100,
        label="Items kept",
        help="For append: how many of the newest items the list keeps.",
        ge=1,
        le=MOST_ITEMS,
    )
    expected_version: Data = field(
        default=None,
        label="Expected version",
        help="Fails unless the value has this version, from ReadState; 0: unless there is none yet. Empty: any.",
    )
    _written: StateValue | None = PrivateAttr(default=None)

    @output(name="value", help="The new value.")
    async def new_value(self) -> Data:
        """Return the new value."""
        return (await self._value()).value

    @output(help="The value before; null when there was none.")
    async def previous(self) -> Data:
        """Return the value before."""
        return (await self._value()).previous

    @output(help="The version of the new value.")
    async def version(self) -> Data:
        """Return the version."""
        return (await self._value()).version

    async def _value(self) -> StateValue:
        if self._written is None:
            value = data_of(self.value)
            if self.operation == "increment":
                value = 1 if value in (None, "") else _number(value, "value")
            change = StateChange(self.name, self.operation, value, self.most, self._expected())
            self._written = await self.ctx.state.write(change)
        return self._written

    def _expected(self) -> int | None:
        if self.expected_version in (None, ""):
            return None
        expected = _number(self.expected_version, "expected_version")
        if not isinstance(expected, int):
            raise _no_number("expected_version", expected)
        return expected


def _number(value: JsonValue, name: str) -> int | float:
    """Return a number that may be written as text. Raises `ComponentError`."""
    if isinstance(value, str):
        for kind in (int, float):
            with suppress(ValueError):
                return kind(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _no_number(name, value)
    return value


def _no_number(name: str, value: JsonValue) -> ComponentError:
    return ComponentError(
        f"WriteState: '{name}' is {clipped(text_of(value), 40)!r}, which is not a number that it takes.",
        remedy="Connect or enter a number.",
        field=name,
    )
