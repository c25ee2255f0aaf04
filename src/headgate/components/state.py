"""Components for values that last between runs of a flow."""

from contextlib import suppress
from math import inf
from typing import Literal

from pydantic import JsonValue, PrivateAttr

from headgate.components.clock import SPARSER, current_time, passed_field, timeout_field
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_part
from headgate.graph.names import clipped
from headgate.graph.template import FieldKind
from headgate.sdk import NOT_TAKEN, Component, ComponentError, Data, NotTaken, Table, Text, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import data_of, text_of
from headgate.sdk.state import StateChange, StateValue

_NAME_HELP = "Letters, digits, dots, hyphens and underscores, for example last_order."
MOST_ITEMS = 10_000
SHORTEST_INTERVAL_SECONDS = 5.0


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


class WaitForState(Component):
    """Waits until a value that lasts between runs of this flow meets a condition. A waiting run needs no worker.

    The value is read at an interval. Another run of the flow, or a program over the API, writes it.
    """

    label = "Wait for state"
    category = "logic"
    icon = "hourglass"
    keywords = (
        "wait until", "condition", "poll", "state", "ready", "until a value", "watch", "threshold", "counter reaches",
        "hold", "gate", "check again", "interval",
    )  # fmt: skip

    name: str = field(label="Name", help=_NAME_HELP, port=False, max_length=64)
    until: str = field(
        label="Condition",
        help="JMESPath condition on the value, for example status == 'done', or @ >= `100` for a number.",
        port=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    interval_seconds: float = field(
        default=60.0,
        label="Check every",
        help="Seconds between two checks; after a long time at least a hundredth of it.",
        port=False,
        ge=SHORTEST_INTERVAL_SECONDS,
        le=86_400,
    )
    timeout_hours: float = timeout_field()
    passed: str | Data | Table = passed_field()
    _reached: StateValue | None = PrivateAttr(default=None)
    _checked: bool = PrivateAttr(default=False)

    @output(help="The value that meets the condition.", branch=True)
    async def value(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        reached = await self._wait()
        return NOT_TAKEN if reached is None else reached.value

    @output(help="The input value, when the condition was not met in time.", branch=True)
    async def timeout(self) -> Data | NotTaken:
        """Return the input value or `NOT_TAKEN`."""
        return data_of(self.passed) if await self._wait() is None else NOT_TAKEN

    async def _wait(self) -> StateValue | None:
        if not self._checked:
            self._reached = await self._check()
            self._checked = True
        return self._reached

    async def _check(self) -> StateValue | None:
        """Return the value once it meets the condition; None after the timeout. It is suspended between checks."""
        began = await self._began()
        deadline = began + self.timeout_hours * 3600 if self.timeout_hours else inf
        while True:
            stored = await self.ctx.state.read(self.name)
            if await select_part(self.ctx, self.until, stored.value, subject="WaitForState", location="until"):
                return stored
            now = current_time().timestamp()
            if now >= deadline:
                return None
            pause = max(self.interval_seconds, (now - began) * SPARSER)
            await self.ctx.sleep(min(pause, deadline - now), restartable=True)

    async def _began(self) -> float:
        """When it began to wait, in seconds since 1970; the same for all attempts."""

        async def now() -> JsonValue:
            return current_time().timestamp()

        request = CallRequest.of("value", "WaitForState", {"name": self.name})
        moment = (await self.ctx.once(request, now)).value
        return float(moment) if isinstance(moment, int | float) else current_time().timestamp()


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
