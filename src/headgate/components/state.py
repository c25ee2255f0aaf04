"""Components for values that last between runs of a flow."""

from collections.abc import Mapping
from contextlib import suppress
from math import inf
from typing import Any, Literal, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.clock import SPARSER, current_time, passed_field, timeout_field
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_part
from headgate.graph.names import clipped
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, Template
from headgate.graph.value_names import ANY_TYPE
from headgate.sdk import NOT_TAKEN, Component, ComponentError, Data, NotTaken, Table, Text, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import data_of, describe, table_of, text_of
from headgate.sdk.state import StateChange, StateType, StateValue, has_type

_NAME_HELP = "Letters, digits, dots, hyphens and underscores, for example last_order."
MOST_ITEMS = 10_000
SHORTEST_INTERVAL_SECONDS = 5.0


_PORTS = {"text": PortType.TEXT, "table": PortType.TABLE}
_EMPTY: Mapping[str, JsonValue] = {"text": "", "table": []}
"""What a typed output has where there is neither a value nor a default."""


def type_field(help_text: str) -> Any:  # noqa: ANN401 - a field of pydantic
    """Return the field of the declared type of a value."""
    return field(default=ANY_TYPE, label="Type", help=help_text, port=False)


def _typed(template: Template, params: Mapping[str, JsonValue] | None) -> Template:
    """Return a template whose output of the value has the declared type."""
    type_ = _PORTS.get(str((params or {}).get("value_type")), PortType.DATA)
    outputs = [port.model_copy(update={"type": type_}) if port.name == "value" else port for port in template.outputs]
    return template.model_copy(update={"outputs": tuple(outputs)})


def _as_port(value: JsonValue, type_: StateType) -> JsonValue | Table:
    """Return a value as its output has it."""
    return table_of(value) if type_ == "table" else value


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
    value_type: StateType = type_field("Type of the value, and of the output value.")
    _read: StateValue | None = PrivateAttr(default=None)

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return the template, with the declared type of the value."""
        return _typed(super().template(params), params)

    @output(help="The value, or the default.")
    async def value(self) -> Data:
        """Return the value."""
        return cast("Data", _as_port(await self._checked(), self.value_type))

    @output(help="The value as text.")
    async def text(self) -> Text:
        """Return the value as text."""
        value = await self._checked()
        return "" if value is None else text_of(value)

    @output(help="Its version, counted from 1; 0 when there is no value yet. Connect it to WriteState to compare.")
    async def version(self) -> Data:
        """Return the version."""
        return (await self._value()).version

    async def _checked(self) -> JsonValue:
        """Return the value or the default. Raises `ComponentError` for one that does not have the declared type."""
        stored = await self._value()
        value = stored.value if stored.version else self.default
        if stored.version or value is not None:
            if not has_type(value, self.value_type):
                subject = f"state '{self.name}'" if stored.version else "the default"
                raise ComponentError(
                    f"ReadState: {subject} is {describe(value)}, not of type {self.value_type}.",
                    remedy="Write a value of this type, or declare another type.",
                    field="value_type" if stored.version else "default",
                )
            return value
        return _EMPTY.get(self.value_type)

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
    value_type: StateType = type_field("Type of the value, and of the output value.")
    passed: str | Data | Table = passed_field()
    _reached: StateValue | None = PrivateAttr(default=None)
    _checked: bool = PrivateAttr(default=False)

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return the template, with the declared type of the value."""
        return _typed(super().template(params), params)

    @output(help="The value that meets the condition.", branch=True)
    async def value(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        reached = await self._wait()
        return NOT_TAKEN if reached is None else cast("Data", _as_port(reached.value, self.value_type))

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
                self._require_type(stored.value)
                return stored
            now = current_time().timestamp()
            if now >= deadline:
                return None
            pause = max(self.interval_seconds, (now - began) * SPARSER)
            await self.ctx.sleep(min(pause, deadline - now), restartable=True)

    def _require_type(self, value: JsonValue) -> None:
        if not has_type(value, self.value_type):
            raise ComponentError(
                f"WaitForState: state '{self.name}' is {describe(value)}, not of type {self.value_type}.",
                remedy="Write a value of this type, or declare another type.",
                field="value_type",
            )

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
    value_type: StateType = type_field("Refuses a new value of another type. any: the type declared before.")
    _written: StateValue | None = PrivateAttr(default=None)

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return the template, with the declared type of the value."""
        return _typed(super().template(params), params)

    @output(name="value", help="The new value.")
    async def new_value(self) -> Data:
        """Return the new value."""
        return cast("Data", _as_port((await self._value()).value, self.value_type))

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
            change = StateChange(self.name, self.operation, value, self.most, self._expected(), self.value_type)
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
