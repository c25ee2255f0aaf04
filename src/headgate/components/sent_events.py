"""Components that send events, and that wait for them."""

from typing import Literal

from pydantic import PrivateAttr

from headgate.components.clock import passed_field, timeout_field
from headgate.sdk import NOT_TAKEN, Component, Data, NotTaken, Table, Text, field, output
from headgate.sdk.coerce import data_of
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent

LONGEST_KEEP_HOURS = 720.0
_NAME_HELP = "Name that sender and receiver agree on, for example payment_received."


class WaitForEvent(Component):
    """Waits for an event and outputs its data. A waiting run needs no worker."""

    label = "Wait for event"
    category = "logic"
    icon = "radio-receiver"
    keywords = (
        "event", "signal", "callback", "webhook", "wait for webhook", "trigger", "message", "external", "resume",
        "continue when", "correlation", "receive", "asynchronous", "async", "notification", "listen", "subscribe",
    )  # fmt: skip

    event: str = field(label="Event", help=_NAME_HELP, port=False, max_length=200)
    correlation: str = field(
        default="",
        label="Correlation",
        help="Value that the event must carry, for example an order number; {{step.field}} is allowed.",
        max_length=500,
    )
    timeout_hours: float = timeout_field()
    passed: str | Data | Table = passed_field()
    _received: ReceivedEvent | None = PrivateAttr(default=None)
    _asked: bool = PrivateAttr(default=False)

    @output(help="The data of the event.", branch=True)
    async def data(self) -> Data | NotTaken:
        """Return the data or `NOT_TAKEN`."""
        event = await self._event()
        return NOT_TAKEN if event is None else event.data

    @output(help="id, name, correlation, data, sender, received_at and sha256 of the event.", branch=True)
    async def details(self) -> Data | NotTaken:
        """Return the event as an object or `NOT_TAKEN`."""
        event = await self._event()
        if event is None:
            return NOT_TAKEN
        return {
            "id": event.id,
            "name": event.name,
            "correlation": event.correlation,
            "data": event.data,
            "sender": event.sender,
            "received_at": event.received_at,
            "sha256": event.sha256,
        }

    @output(help="The value, when no event arrived in time.", branch=True)
    async def timeout(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        return data_of(self.passed) if await self._event() is None else NOT_TAKEN

    async def _event(self) -> ReceivedEvent | None:
        if not self._asked:
            query = EventQuery(self.event, self.correlation, self.timeout_hours * 3600 or None)
            self._received = await self.ctx.wait_for_event(query)
            self._asked = True
        return self._received


class SendEvent(Component):
    """Sends an event to steps of other runs that wait for it. It is sent once, however often the step is attempted."""

    label = "Send event"
    category = "logic"
    icon = "radio-tower"
    effect = True
    keywords = (
        "event", "signal", "emit", "publish", "notify", "wake", "trigger", "message", "resume a run", "continue a run",
        "correlation", "broadcast", "callback",
    )  # fmt: skip

    data: str | Data | Table = field(
        default=None, label="Data", help="What the receiver gets.", main=True, tool_mode=True
    )
    event: str = field(label="Event", help=_NAME_HELP, port=False, max_length=200)
    correlation: str = field(
        default="",
        label="Correlation",
        help="Value that the receiver waits for, for example an order number; {{step.field}} is allowed.",
        max_length=500,
        tool_mode=True,
    )
    deliver: Literal["one", "all"] = field(
        default="one",
        label="Deliver to",
        help="one: the step that has waited longest; all: every step that waits.",
    )
    keep_hours: float = field(
        default=24.0,
        label="Keep for hours",
        help="How long the event is kept for steps that begin to wait later.",
        ge=0,
        le=LONGEST_KEEP_HOURS,
    )
    _id: str = PrivateAttr(default="")

    @output(name="value", label="Value", help="The data, unchanged.")
    async def value(self) -> Data:
        """Send the event and return its data."""
        await self._send()
        return data_of(self.data)

    @output(help="Id of the event.")
    async def event_id(self) -> Text:
        """Send the event and return its id."""
        return await self._send()

    async def _send(self) -> str:
        if not self._id:
            self._id = await self.ctx.send_event(
                OutgoingEvent(
                    name=self.event,
                    correlation=self.correlation,
                    data=data_of(self.data),
                    deliver=self.deliver,
                    keep_seconds=self.keep_hours * 3600,
                )
            )
        return self._id
