"""The bus of one process: what readers get, and what it keeps."""

import asyncio

import pytest

from headgate.foundation import events
from headgate.foundation.events import MOST_GROUP_BYTES, EventBus


@pytest.fixture
def bus() -> EventBus:
    return EventBus()


def emit(bus: EventBus, count: int, *, topic: str = "run", group: str = "step", first: int = 1) -> None:
    for number in range(first, first + count):
        bus.publish(topic, "token", {"number": number}, group=group)


class Reader:
    """Reads a topic from when it has subscribed."""

    def __init__(self, bus: EventBus, topic: str = "run") -> None:
        self._open = bus.follow(topic)

    async def subscribe(self) -> "Reader":
        self.feed = await self._open.__aenter__()
        return self

    async def leave(self) -> None:
        await self._open.__aexit__(None, None, None)

    async def numbers(self, count: int) -> list[int]:
        """The numbers of the next events, at least so many."""
        numbers: list[int] = []
        while len(numbers) < count:
            numbers += [int(str(event.data["number"])) for event in self.feed.pending()]
            if len(numbers) < count:
                await self.feed.changed()
        return numbers


class TestFollow:
    async def test_gives_what_is_kept_of_groups_and_what_comes(self, bus: EventBus) -> None:
        emit(bus, 3)
        reader = await Reader(bus).subscribe()
        emit(bus, 2, first=4)
        assert await reader.numbers(5) == [1, 2, 3, 4, 5]

    async def test_gives_every_event_to_every_reader_in_order(self, bus: EventBus) -> None:
        readers = [await Reader(bus).subscribe() for _ in range(20)]
        reading = [asyncio.create_task(reader.numbers(100)) for reader in readers]
        for number in range(1, 101):
            bus.publish("run", "token", {"number": number}, group=f"step{number % 3}")
            if number % 7 == 0:
                await asyncio.sleep(0)
        for numbers in await asyncio.gather(*reading):
            assert numbers == list(range(1, 101))

    async def test_gives_an_event_without_a_group_to_present_readers_only(self, bus: EventBus) -> None:
        bus.publish("flow", "saved", {"number": 1})
        first = await Reader(bus, "flow").subscribe()
        bus.publish("flow", "saved", {"number": 2})
        second = await Reader(bus, "flow").subscribe()
        bus.publish("flow", "saved", {"number": 3})
        assert await first.numbers(2) == [2, 3]
        assert await second.numbers(1) == [3]

    async def test_gives_present_readers_the_rest_of_a_group_that_ended(self, bus: EventBus) -> None:
        present = await Reader(bus).subscribe()
        emit(bus, 3)
        bus.drop("run", "step")
        late = await Reader(bus).subscribe()
        bus.publish("run", "token", {"number": 9}, group="next")
        assert await present.numbers(4) == [1, 2, 3, 9]
        assert await late.numbers(1) == [9]

    async def test_says_that_rows_changed(self, bus: EventBus) -> None:
        reader = await Reader(bus).subscribe()
        emit(bus, 1)
        bus.wake("run")
        bus.wake("run")
        assert await reader.feed.changed()
        assert await reader.numbers(1) == [1]
        bus.wake("run")
        assert await reader.feed.changed()

    async def test_looks_at_the_rows_after_silence(self, bus: EventBus, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(events, "SILENCE_SECONDS", 0.01)
        reader = await Reader(bus).subscribe()
        assert await reader.feed.changed()

    async def test_misses_the_oldest_where_too_much_is_kept(self, bus: EventBus) -> None:
        text = "x" * 1000
        for number in range(1, 1001):
            bus.publish("run", "token", {"number": number, "text": text}, group="step")
        reader = await Reader(bus).subscribe()
        numbers = await reader.numbers(1)
        assert 1 < numbers[0] < 1000
        assert numbers == list(range(numbers[0], 1001))


class TestMemory:
    async def test_is_given_back_when_a_group_ends(self, bus: EventBus) -> None:
        for run in range(300):
            emit(bus, 2000, topic=f"run{run}")
            bus.wake(f"run{run}")
            bus.drop(f"run{run}", "step")
        assert bus.size_bytes == 0
        assert not bus._topics

    async def test_is_given_back_when_the_last_reader_leaves(self, bus: EventBus) -> None:
        readers = [await Reader(bus).subscribe() for _ in range(2)]
        emit(bus, 100)
        bus.publish("run", "saved", {})
        bus.drop("run", "step")
        assert bus.size_bytes > 0
        for reader in readers:
            await reader.leave()
        assert bus.size_bytes == 0
        assert not bus._topics

    async def test_of_a_group_is_bounded(self, bus: EventBus) -> None:
        emit(bus, 10_000)
        assert bus.size_bytes <= MOST_GROUP_BYTES

    async def test_in_total_is_bounded_whatever_the_number_of_topics(self) -> None:
        bus = EventBus(most_bytes=1_000_000)
        for run in range(500):
            emit(bus, 50, topic=f"run{run}")
            assert bus.size_bytes <= 1_000_000
        reader = await Reader(bus, "run499").subscribe()
        assert await reader.numbers(50) == list(range(1, 51))

    async def test_of_a_topic_that_nobody_reads_is_none(self, bus: EventBus) -> None:
        bus.publish("flow", "saved", {})
        bus.wake("flow")
        bus.drop("flow", "step")
        assert not bus._topics
        assert not bus.may_have_readers("flow")
