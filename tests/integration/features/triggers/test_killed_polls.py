"""Polls of two servers at the same time, which end between reading and writing, on both databases: one run per key."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select, text

from headgate.features.access.principal import LOCAL
from headgate.features.triggers import firing as firing_module
from headgate.features.triggers import scheduler, service
from headgate.features.triggers.poll_settings import FeedConfig
from headgate.features.triggers.polling import poller, sources
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import Cursor, fresh_of
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.features.triggers.polling.sources import Source
from headgate.features.triggers.scheduler import Scheduler
from headgate.features.triggers.schemas import TriggerIn
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.settings import EngineSettings, Settings
from tests.integration.features.triggers.test_thirty_days import World, faulty, free, published_flow, work
from tests.support.people import running

LISTED = 40
ITEMS = 300


class Stream:
    """A source that has more items each time, of which it lists the last ones; another reader sees it later or not."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.length = 1
        self.confirmed: set[str] = set()

    async def read(self, ctx: PollContext, config: FeedConfig, cursor: Cursor | None) -> PollResult:
        length = self.length
        await asyncio.sleep(0)
        self.world.maybe_kill()
        keys = [f"key {number}" for number in range(max(0, length - LISTED), length)]
        new = fresh_of(keys, cursor, most=config.most, all_at_first=config.first == "all")
        items = tuple(Item(keys[position], {"key": keys[position]}) for position in new.positions)
        waiting = Cursor() if cursor is None else cursor
        after = Cursor(new.cursor.seen, unconfirmed=(*waiting.unconfirmed, *(item.key for item in items)))
        return PollResult(items, after, more=new.more)

    async def confirm(self, _ctx: PollContext, _config: FeedConfig, keys: Any) -> None:
        self.world.maybe_kill()
        self.confirmed.update(keys)


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    engine = EngineSettings(recover_on_start=False)
    async with running(settings.model_copy(update={"engine": engine})) as made:
        yield made


class TestKilledAndDoubledPolls:
    @pytest.mark.parametrize("seed", [1, 2])
    async def test_start_one_run_for_each_key(self, app: FastAPI, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        world = World(seed, 1_800_000_000_000_000)
        stream = Stream(world)
        faulty(world, monkeypatch)
        monkeypatch.setattr(poller, "clock", world.clock)
        monkeypatch.setitem(sources.SOURCES, FeedConfig, Source(stream.read, stream.confirm))
        config = {"kind": "feed", "url": "https://example.org/feed", "every_seconds": 60, "most": 5, "first": "all"}
        policies = {"overlap": "allow", "limit": 10_000}
        body = TriggerIn.model_validate({"name": "Stream", "config": config, "policies": policies})
        flow_id = await published_flow(app)
        async with app.state.database.writing() as session:
            made = await service.add_trigger(session, LOCAL, flow_id, body, box=app.state.box)
        schedulers = [Scheduler(app.state.firing, app.state.services.jobs, app.state.poller) for _ in range(2)]
        while stream.length < ITEMS:
            world.at += 60_000_000 * world.random.randrange(1, 5)
            stream.length += world.random.randrange(0, 4)
            turns = [work(app, world, "one", schedulers[0])]
            if world.random.random() < 0.6:  # the claim is lost while its holder polls: another server polls as well
                turns += [_lost(app, world, schedulers[1])]
            await asyncio.gather(*turns)
            await free(app, world)
        assert world.kills >= 10
        monkeypatch.undo()
        monkeypatch.setitem(sources.SOURCES, FeedConfig, Source(stream.read, stream.confirm))
        world.random.seed(0)
        monkeypatch.setattr(World, "maybe_kill", lambda _: None)
        for module in (scheduler, firing_module, service, poller):
            monkeypatch.setattr(module, "clock", world.clock)
        for _ in range(20):
            world.at += 3_600_000_000
            await free(app, world)
            await work(app, world, "last", schedulers[0])
        await _check(app, made.id, stream)


async def _lost(app: FastAPI, world: World, other: Scheduler) -> None:
    await asyncio.sleep(0)
    await free(app, world)
    await work(app, world, "two", other)


async def _check(app: FastAPI, trigger_id: str, stream: Stream) -> None:
    async with app.state.database.reading() as session:
        rows = (
            (await session.execute(select(OccurrenceRow).where(OccurrenceRow.trigger_id == trigger_id))).scalars().all()
        )
        trigger = await session.get_one(TriggerRow, trigger_id)
        stored = (await session.execute(text("SELECT id FROM flow_runs"))).scalars().all()
    expected = {f"item:key {number}" for number in range(stream.length)}
    assert trigger.enabled
    assert {row.occurrence_key for row in rows} == expected
    assert len(rows) == len(expected) >= ITEMS
    assert {row.status for row in rows} == {"started"}
    assert sorted(stored) == sorted(row.flow_run_id or "" for row in rows)
    assert stream.confirmed == {f"key {number}" for number in range(stream.length)}
