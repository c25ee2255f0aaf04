"""The event stream of a run: each durable event exactly once and in order, whatever connections are lost."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_store
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.events import ENDINGS, RunEvents, topic_of
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.views.stream import RunStream
from headgate.foundation import events as bus_module
from headgate.foundation.database import Database
from headgate.foundation.event_relay import EventRelay, RelayFeed
from headgate.foundation.events import EventBus
from headgate.foundation.ids import new_id
from headgate.foundation.sse import SseEvent
from tests.integration.features.runs.conftest import MakeEngine
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

DURABLE = frozenset({"run_queued", "run_started", "step_started", "step_completed", "step_failed", "step_skipped"})


def is_durable(event: SseEvent) -> bool:
    return event.kind in DURABLE | ENDINGS


async def read(engine: ExecutionBackend, key: RunKey, last_id: str = "", most: int = 100_000) -> list[SseEvent]:
    """The events of one connection, at most `most`."""
    received: list[SseEvent] = []
    stream = RunStream(engine, key.tenant_id, key.run_id)
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(stream.events(last_id)) as events:
        async for event in events:
            received.append(event)
            if len(received) == most:
                break
    return received


async def read_in_pieces(engines: list[ExecutionBackend], key: RunKey, rng: random.Random) -> list[SseEvent]:
    """All events of a run over many connections, each to a random engine and closed after one to three events."""
    received: list[SseEvent] = []
    while not received or received[-1].kind not in ENDINGS:
        received += await read(rng.choice(engines), key, received[-1].id if received else "", rng.randint(1, 3))
    return received


def speaking(folder: Path) -> Any:
    """A flow that streams text and then waits for a file while a second step waits too."""
    return make_flow(
        {"start": "Start", "speak": "Speak", "gate": "Gate", "end": "Join"},
        ["start.text -> speak.input", "speak.text -> gate.input", "gate.text -> end.parts"],
        gate={"folder": str(folder)},
    )


@pytest.fixture
async def talk(database: Database, tmp_path: Path) -> RunKey:
    return await store_flow(database, speaking(tmp_path))


async def over(engine: ExecutionBackend, key: RunKey, folder: Path) -> None:
    (folder / "gate.open").touch()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await engine.wait(key.run_id)


class TestReader:
    async def test_that_comes_back_behind_the_first_event_gets_every_step_event_after_3000_tokens(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path
    ) -> None:
        request = new_run(talk, "word " * 3000)
        await engine.start(request)
        first = await read(engine, request.key, most=1)
        await over(engine, request.key, tmp_path)
        rest = await read(engine, request.key, first[-1].id)
        completed = [event.data["step_id"] for event in rest if event.kind == "step_completed"]
        assert completed == ["start", "speak", "gate", "end"]
        assert [int(event.id) for event in [*first, *rest] if is_durable(event)] == list(range(1, 11))

    async def test_gets_the_tokens_of_a_step_before_its_end(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path
    ) -> None:
        request = new_run(talk, "one two three")
        await engine.start(request)
        reading = asyncio.create_task(read(engine, request.key))
        await over(engine, request.key, tmp_path)
        events = await reading
        words = [event.data["text"] for event in events if event.kind == "token"]
        assert words in (["one", "two", "three"], [])  # none where it came when the step had ended
        kinds = [event.kind for event in events if event.data.get("step_id") == "speak"]
        assert kinds[0] == "step_started"
        assert kinds[-1] == "step_completed"
        assert "gap" not in kinds

    async def test_of_a_finished_run_gets_it_from_the_beginning_on_another_process(
        self, make_engine: MakeEngine, talk: RunKey, tmp_path: Path
    ) -> None:
        engine, request = await make_engine(), new_run(talk, "hello")
        await engine.start(request)
        await over(engine, request.key, tmp_path)
        events = await read(engine, request.key)
        await engine.close()
        again = await make_engine()
        assert await read(again, request.key) == events
        assert [event.id for event in events] == [str(number) for number in range(1, 11)]
        assert (events[-1].kind, events[-1].data["text"]) == ("run_completed", "hello")
        assert {event.data["label"] for event in events if event.kind == "step_started"} == {
            "start",
            "speak",
            "gate",
            "end",
        }

    @pytest.mark.parametrize("seed", range(4))
    async def test_that_is_cut_every_few_events_gets_to_the_end_once_and_in_order(
        self, make_engine: MakeEngine, talk: RunKey, tmp_path: Path, seed: int
    ) -> None:
        """While the run continues, over two processes of which one has not started it and one is restarted."""
        rng = random.Random(seed)
        engines = [await make_engine(), await make_engine(recover_on_start=False)]
        requests = [new_run(talk, "one two three four five") for _ in range(6)]
        for request in requests:
            await engines[0].start(request)
        reading = [asyncio.create_task(read_in_pieces(engines, one.key, rng)) for one in requests]
        await asyncio.sleep(0)
        (tmp_path / "gate.open").touch()
        for events in await asyncio.gather(*reading):
            assert [int(event.id) for event in events if is_durable(event)] == list(range(1, 11))
            assert events[-1].kind == "run_completed"
        await engines[0].close()
        engines[0] = await make_engine()
        for request in requests:
            events = await read_in_pieces(engines, request.key, rng)
            assert [int(event.id) for event in events] == list(range(1, 11))

    async def test_of_a_resumed_run_is_told_of_its_last_end_only(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await over(engine, request.key, tmp_path)
        first = await read(engine, request.key)
        await engine.resume(request.key)
        await over(engine, request.key, tmp_path)
        again = await read(engine, request.key)
        assert [event.kind for event in again].count("run_failed") == 1
        assert [
            event.data["attempt"] for event in again if event.kind == "step_started" and event.data["step_id"] == "bad"
        ] == [1, 2]
        rest = await read(engine, request.key, first[-1].id)
        assert rest == again[-len(rest) :]
        assert rest[0].kind == "run_started"
        assert rest[0].data["resumed"] is True

    async def test_with_an_id_of_no_event_begins_at_the_beginning(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path
    ) -> None:
        request = new_run(talk)
        await engine.start(request)
        await over(engine, request.key, tmp_path)
        complete = await read(engine, request.key)
        for wrong in ("r-3", "99", "abc-7", "1753-0.4", "-1"):
            assert await read(engine, request.key, wrong) == complete

    async def test_of_no_run_or_another_tenants_is_refused(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path
    ) -> None:
        request = new_run(talk)
        await engine.start(request)
        await over(engine, request.key, tmp_path)
        for key in (replace(talk, run_id=new_id()), replace(request.key, tenant_id=new_id())):
            with pytest.raises(RunNotFound):
                await read(engine, key)


class TestGaps:
    """A `gap` reports the events of a running attempt that a reader missed; a finished step has none."""

    async def running(self, engine: ExecutionBackend, talk: RunKey) -> RunKey:
        """A run whose step `gate` is running."""
        request = new_run(talk)
        await engine.start(request)
        async with asyncio.timeout(PATIENCE_SECONDS):
            stream = RunStream(engine, talk.tenant_id, request.key.run_id)
            async with aclosing(stream.events()) as events:
                async for event in events:
                    if event.kind == "step_started" and event.data["step_id"] == "gate":
                        return request.key
        raise AssertionError

    async def test_are_marked_where_too_much_was_emitted(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bus_module, "MOST_GROUP_BYTES", 5_000)
        key = await self.running(engine, talk)
        emitter = RunEvents(engine.services.bus, key.run_id).step("gate", 1)
        for number in range(100):
            emitter.token(f"word {number}")
        events = await read(engine, key, most=15)
        at = next(index for index, event in enumerate(events) if event.kind == "gap")
        following = events[at + 1]
        assert events[at].data == {"step_id": "gate", "attempt": 1, "next": following.data["number"]}
        assert cast("int", following.data["number"]) > 1
        await over(engine, key, tmp_path)
        rest = await read(engine, key, events[-1].id)
        assert next(event.kind for event in rest if is_durable(event)) == "step_completed"

    async def test_there_is_none_for_a_reader_that_reconnects_in_the_middle(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path
    ) -> None:
        key = await self.running(engine, talk)
        emitter = RunEvents(engine.services.bus, key.run_id).step("gate", 1)
        for number in range(10):
            emitter.token(str(number))
        events = await read(engine, key, most=10)
        while len([event for event in events if event.kind == "token" and event.data["step_id"] == "gate"]) < 10:
            events += await read(engine, key, events[-1].id, most=1)
        assert [
            event.data["text"] for event in events if event.data.get("step_id") == "gate" and event.kind == "token"
        ] == [str(number) for number in range(10)]
        assert "gap" not in {event.kind for event in events}
        await over(engine, key, tmp_path)

    async def test_restart_the_text_where_the_position_of_the_reader_is_unknown(
        self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path
    ) -> None:
        """It reconnected with the id of a durable event after the start of the attempt."""
        key = await self.running(engine, talk)
        emitter = RunEvents(engine.services.bus, key.run_id).step("gate", 1)
        emitter.token("one")
        started = (await read(engine, key, most=6))[-1]
        assert started.data["step_id"] == "gate"
        events = await read(engine, key, started.id, most=2)
        assert [(event.kind, event.data.get("next")) for event in events] == [("gap", 1), ("token", None)]
        await over(engine, key, tmp_path)


class TestMemory:
    async def test_of_finished_runs_is_none(self, engine: ExecutionBackend, talk: RunKey, tmp_path: Path) -> None:
        (tmp_path / "gate.open").touch()
        requests = [new_run(talk, "word " * 500) for _ in range(20)]
        for request in requests:
            await engine.start(request)
        for request in requests:
            await over(engine, request.key, tmp_path)
            await read(engine, request.key)
        bus = engine.services.bus
        assert isinstance(bus, EventBus)
        await engine.close()
        assert (bus.size_bytes, len(bus._topics)) == (0, 0)


@dataclass
class Elsewhere:
    """A process that hears of runs through Redis only."""

    feed: RelayFeed
    store: Any
    plans: Any


@asynccontextmanager
async def without_redis(engine: ExecutionBackend, database: Database) -> AsyncIterator[ExecutionBackend]:
    store = build_store(database)
    await store.open()
    client: Redis = Redis.from_url(f"redis://127.0.0.1:{free_port()}/0")
    try:
        yield cast("ExecutionBackend", Elsewhere(RelayFeed(client), store, engine.plans))
    finally:
        await client.aclose()
        await store.close()


class TestWithoutRedis:
    async def test_every_durable_event_comes_from_the_rows(
        self, engine: ExecutionBackend, database: Database, talk: RunKey, tmp_path: Path
    ) -> None:
        request = new_run(talk, "one two three")
        async with without_redis(engine, database) as elsewhere:
            await engine.start(request)
            reading = asyncio.create_task(read(elsewhere, request.key))
            await over(engine, request.key, tmp_path)
            events = await reading
        assert [int(event.id) for event in events] == list(range(1, 11))

    async def test_the_relay_drops_what_it_cannot_send(self) -> None:
        relay = EventRelay(f"redis://127.0.0.1:{free_port()}/0", 60)
        for number in range(20_000):
            relay.publish(topic_of(f"run{number % 50}"), "token", {"number": number, "text": "word"}, group="step")
        assert relay._bytes <= 4 * 1024 * 1024
        await relay.flush()
        assert (relay._bytes, relay._waiting) == (0, {})
        await relay.aclose()
