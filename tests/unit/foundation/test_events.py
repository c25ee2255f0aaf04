import asyncio
from collections.abc import AsyncIterator

import pytest

from headgate.foundation import events
from headgate.foundation.events import Event, EventBus


async def read(bus: EventBus, topic: str, *, after: int = 0) -> list[Event]:
    """Everything until the topic is closed."""
    return [event async for event in bus.subscribe(topic, after=after)]


def fill(bus: EventBus, topic: str, count: int) -> None:
    for number in range(1, count + 1):
        bus.publish(topic, "tick", {"number": number})


@pytest.fixture
def bus() -> EventBus:
    return EventBus()


class TestSubscribe:
    async def test_gives_what_was_there_and_what_comes(self, bus: EventBus) -> None:
        bus.publish("run", "started", {})
        reader = asyncio.create_task(read(bus, "run"))
        await asyncio.sleep(0)
        bus.publish("run", "finished", {"ok": True})
        bus.close("run")
        assert [(event.id, event.kind, event.data) for event in await reader] == [
            (1, "started", {}),
            (2, "finished", {"ok": True}),
        ]

    @pytest.mark.parametrize("after", [0, 1, 49, 99, 100])
    async def test_goes_on_after_the_last_event_that_was_seen(self, bus: EventBus, after: int) -> None:
        fill(bus, "run", 100)
        bus.close("run")
        assert [event.id for event in await read(bus, "run", after=after)] == list(range(after + 1, 101))

    async def test_gives_every_event_to_every_reader(self, bus: EventBus) -> None:
        readers = [asyncio.create_task(read(bus, "run")) for _ in range(50)]
        for number in range(200):
            bus.publish("run", "tick", {"number": number})
            if number % 7 == 0:
                await asyncio.sleep(0)
        bus.close("run")
        for found in await asyncio.gather(*readers):
            assert [event.id for event in found] == list(range(1, 201))

    async def test_a_slow_reader_loses_nothing_and_holds_nobody_up(self, bus: EventBus) -> None:
        seen: list[int] = []

        async def slow() -> None:
            async for event in bus.subscribe("run"):
                seen.append(event.id)
                await asyncio.sleep(0.001)

        reader = asyncio.create_task(slow())
        quick = asyncio.create_task(read(bus, "run"))
        fill(bus, "run", 100)
        bus.close("run")
        assert len(await quick) == 100
        assert len(seen) < 100
        await reader
        assert seen == list(range(1, 101))

    async def test_keeps_the_last_events_only(self, bus: EventBus, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(bus, "run", events.MAX_EVENTS + 10)
        bus.close("run")
        found = await read(bus, "run")
        assert (found[0].id, len(found)) == (11, events.MAX_EVENTS)

    async def test_ends_at_once_on_a_closed_topic_that_was_read_already(self, bus: EventBus) -> None:
        fill(bus, "run", 3)
        bus.close("run")
        assert await read(bus, "run", after=3) == []

    async def test_keeps_topics_apart(self, bus: EventBus) -> None:
        bus.publish("a", "one", {})
        bus.publish("b", "two", {})
        bus.close("a")
        assert [event.kind for event in await read(bus, "a")] == ["one"]

    async def test_waits_for_a_topic_that_has_not_begun(self, bus: EventBus) -> None:
        reader = asyncio.create_task(read(bus, "later"))
        await asyncio.sleep(0)
        bus.publish("later", "now", {})
        bus.close("later")
        assert len(await asyncio.wait_for(reader, 1)) == 1

    async def test_a_reader_that_left_is_forgotten(self, bus: EventBus) -> None:
        stream: AsyncIterator[Event] = bus.subscribe("run")
        bus.publish("run", "tick", {})
        assert (await anext(stream)).id == 1
        await stream.aclose()  # type: ignore[attr-defined]
        bus.close("run")


class TestTopics:
    def test_knows_what_was_published(self, bus: EventBus) -> None:
        bus.publish("a", "one", {})
        assert bus.knows("a")
        assert not bus.knows("b")

    def test_forgets_the_oldest_topics(self, bus: EventBus) -> None:
        for number in range(events.MAX_TOPICS + 5):
            bus.publish(f"t{number}", "tick", {})
        assert not bus.knows("t0")
        assert bus.knows(f"t{events.MAX_TOPICS + 4}")

    async def test_does_not_forget_a_topic_that_is_being_read(self, bus: EventBus) -> None:
        reader = asyncio.create_task(read(bus, "watched"))
        await asyncio.sleep(0)
        for number in range(events.MAX_TOPICS + 5):
            bus.publish(f"t{number}", "tick", {})
        bus.publish("watched", "still", {})
        bus.close("watched")
        assert [event.kind for event in await asyncio.wait_for(reader, 1)] == ["still"]

    def test_closing_an_unknown_topic_does_nothing(self, bus: EventBus) -> None:
        bus.close("never")
        assert not bus.knows("never")
