import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from headgate.foundation import sse
from headgate.foundation.sse import EventStream, SseEvent, with_heartbeat
from tests.support.patience import PATIENCE_SECONDS


class TestTold:
    def test_is_one_server_sent_event(self) -> None:
        event = SseEvent("e-1", "token", {"text": "två\nrader"})
        assert event.as_sse().decode() == 'id: e-1\nevent: token\ndata: {"text":"två\\nrader"}\n\n'


class TestWithHeartbeat:
    async def test_speaks_up_when_nothing_happens(self) -> None:
        async def slow() -> AsyncGenerator[SseEvent, None]:
            yield SseEvent("1", "a", {})
            await asyncio.sleep(0.05)
            yield SseEvent("2", "b", {})

        pieces = [piece async for piece in with_heartbeat(slow(), seconds=0.02)]
        assert pieces[0].startswith(b"id: 1")
        assert pieces[-1].startswith(b"id: 2")
        assert set(pieces[1:-1]) == {b": still here\n\n"}

    async def test_closes_the_events_when_the_reader_leaves(self) -> None:
        closed = asyncio.Event()

        async def endless() -> AsyncGenerator[SseEvent, None]:
            try:
                yield SseEvent("1", "a", {})
                await asyncio.sleep(60)
            finally:
                closed.set()

        reading = with_heartbeat(endless(), seconds=10)
        await anext(reading)
        await reading.aclose()
        assert closed.is_set()

    @pytest.mark.parametrize("busy", [False, True])
    async def test_ends_when_its_reader_may_not_go_on(self, monkeypatch: pytest.MonkeyPatch, *, busy: bool) -> None:
        monkeypatch.setattr(sse, "CHECK_SECONDS", 0.0)
        answers = iter([True, True, False])

        async def may_go_on() -> bool:
            return next(answers)

        async def events() -> AsyncGenerator[SseEvent, None]:
            for number in range(100):
                yield SseEvent(str(number), "a", {})
                if not busy:
                    await asyncio.sleep(60)

        pieces = [piece async for piece in with_heartbeat(events(), seconds=0.01, may_go_on=may_go_on)]
        assert len(pieces) <= 2
        assert next(answers, None) is None

    async def test_asks_also_while_nothing_happens_long_before_the_next_heartbeat(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sse, "CHECK_SECONDS", 0.01)

        async def may_go_on() -> bool:
            return False

        async def silence() -> AsyncGenerator[SseEvent, None]:
            await asyncio.Event().wait()
            yield SseEvent("1", "a", {})

        async with asyncio.timeout(PATIENCE_SECONDS):
            pieces = [piece async for piece in with_heartbeat(silence(), seconds=10_000, may_go_on=may_go_on)]
        assert pieces == []

    async def test_says_that_it_is_there_as_often_as_before(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sse, "CHECK_SECONDS", 0.001)
        asked = 0

        async def may_go_on() -> bool:
            nonlocal asked
            asked += 1
            return asked < 20

        async def silence() -> AsyncGenerator[SseEvent, None]:
            await asyncio.Event().wait()
            yield SseEvent("1", "a", {})

        pieces = [piece async for piece in with_heartbeat(silence(), seconds=10_000, may_go_on=may_go_on)]
        assert (asked, pieces) == (20, [])

    async def test_asks_no_more_often_than_it_must(self) -> None:
        async def may_go_on() -> bool:
            raise AssertionError("asked before its time")

        async def events() -> AsyncGenerator[SseEvent, None]:
            for number in range(100):
                yield SseEvent(str(number), "a", {})

        pieces = [piece async for piece in with_heartbeat(events(), may_go_on=may_go_on)]
        assert len(pieces) == 100


class TestEventStream:
    @pytest.mark.parametrize("stuck", [False, True], ids=["between two events", "while an event is sent"])
    async def test_closes_the_events_before_it_ends_when_its_reader_is_gone(self, *, stuck: bool) -> None:
        closed, began = asyncio.Event(), asyncio.Event()

        async def endless() -> AsyncGenerator[SseEvent, None]:
            try:
                yield SseEvent("1", "a", {})
                await asyncio.sleep(60)
            finally:
                for _ in range(3):  # at each of these the framework cancels again
                    await asyncio.sleep(0)
                closed.set()

        async def receive() -> Message:
            await began.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                began.set()
                await asyncio.sleep(60 if stuck else 0)

        answer = EventStream(with_heartbeat(endless()))
        await answer({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
        assert closed.is_set()
