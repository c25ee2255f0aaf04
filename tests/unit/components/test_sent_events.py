"""Tests of the components that send events and wait for them."""

from headgate.components.sent_events import SendEvent, WaitForEvent
from headgate.sdk import NOT_TAKEN
from headgate.sdk.fakes import FakeContext
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent

EVENT = ReceivedEvent("e1", "paid", "7", {"sum": 40}, "Ann", "2026-11-28T12:00:00+00:00", "0" * 64)


class TestWaitForEvent:
    async def test_outputs_the_data_of_the_event(self) -> None:
        step = WaitForEvent.create(
            {"event": "paid", "correlation": "7", "timeout_hours": 2, "value": "order"}, node_id="wait"
        )
        ctx = FakeContext(event=EVENT)
        step.attach(ctx)
        assert await step.data() == {"sum": 40}
        details = await step.details()
        assert isinstance(details, dict)
        assert (details["id"], details["sender"]) == ("e1", "Ann")
        assert await step.timeout() is NOT_TAKEN
        assert ctx.event_queries == [EventQuery("paid", "7", 7200.0)]

    async def test_takes_the_timeout_branch_without_one(self) -> None:
        step = WaitForEvent.create({"event": "paid", "value": "order"}, node_id="wait")
        ctx = FakeContext()
        step.attach(ctx)
        assert await step.data() is NOT_TAKEN
        assert await step.details() is NOT_TAKEN
        assert await step.timeout() == "order"
        assert ctx.event_queries == [EventQuery("paid", "", None)]


class TestSendEvent:
    async def test_sends_once_for_all_outputs(self) -> None:
        step = SendEvent(event="paid", correlation="7", data={"sum": 40}, deliver="all", keep_hours=1)
        ctx = FakeContext()
        step.attach(ctx)
        assert await step.value() == {"sum": 40}
        assert await step.event_id() == "event-1"
        assert ctx.sent_events == [OutgoingEvent("paid", "7", {"sum": 40}, "all", 3600.0)]
