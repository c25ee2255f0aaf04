"""Thirty simulated days with two schedulers, killed processes, lost claims and clocks that jump, on both databases."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select, text, update

from headgate.features.access.principal import LOCAL
from headgate.features.jobs.leases import Lease
from headgate.features.runs import service as runs
from headgate.features.triggers import firing as firing_module
from headgate.features.triggers import following, repository, scheduler, service
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.scheduler import Scheduler
from headgate.features.triggers.schemas import TriggerIn
from headgate.features.triggers.settings import ScheduleConfig
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.features.triggers.words import schedule_of
from headgate.foundation.database import microseconds
from headgate.foundation.settings import EngineSettings, Settings
from tests.support.people import asking, running
from tests.support.team import FLOW

Record = Callable[[str, object], None]
HOUR = 3600 * SECOND
DAY = 24 * HOUR


class Killed(BaseException):
    """The process ends here."""


class World:
    """A clock that jumps, and processes that end at random points."""

    def __init__(self, seed: int, start: int) -> None:
        self.random = random.Random(seed)
        self.at = start
        self.kills = 0

    def clock(self) -> int:
        return self.at

    def step(self) -> None:
        """Let time pass: usually an hour or two, sometimes a downtime, sometimes a clock set back."""
        kind = self.random.random()
        if kind < 0.05:
            self.at += self.random.randrange(3, 30) * HOUR
        elif kind < 0.15:
            self.at -= self.random.randrange(1, 180) * 60 * SECOND
        else:
            self.at += self.random.randrange(1, 90) * 60 * SECOND

    def maybe_kill(self) -> None:
        if self.random.random() < 0.03:
            self.kills += 1
            raise Killed


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    engine = EngineSettings(recover_on_start=False)
    async with running(settings.model_copy(update={"engine": engine})) as made:
        yield made


def faulty(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the clock of the world, and end processes before and after each write."""
    for module in (scheduler, firing_module, service, following):
        monkeypatch.setattr(module, "clock", world.clock)
    begin, add, release = runs.begin_run, repository.add_occurrences, repository.QUEUE.release

    def around(write: Any) -> Any:
        async def killed(*given: Any, **named: Any) -> Any:
            world.maybe_kill()
            outcome = await write(*given, **named)
            world.maybe_kill()
            return outcome

        return killed

    monkeypatch.setattr(runs, "begin_run", around(begin))
    monkeypatch.setattr(repository, "add_occurrences", around(add))
    monkeypatch.setattr(repository.QUEUE, "release", around(release))


async def claimed(app: FastAPI, world: World, worker: str) -> list[Any]:
    async with app.state.database.writing() as session:
        return await repository.QUEUE.claim(session, Lease(worker, world.at, world.at + HOUR), limit=5)


async def work(app: FastAPI, world: World, worker: str, makes: Scheduler) -> None:
    """One turn of a process; a killed one leaves its claim."""
    for job in await claimed(app, world, worker):
        try:
            await makes.handle(job)
        except Killed:
            return


async def free(app: FastAPI, world: World) -> None:
    """What recovery does with claims of processes that ended, or whose lease expired although they still work."""
    async with app.state.database.writing() as session:
        change = update(TriggerRow).where(TriggerRow.worker_id.is_not(None))
        await session.execute(change.values(worker_id=None, lease_until=None, due_at=world.at))


async def published_flow(app: FastAPI) -> str:
    """A published flow of the local user; returns its id."""
    async with asking(app) as client:
        flow_id = (await client.post("/flows", json={"spec": FLOW})).json()["id"]
        assert (await client.post(f"/flows/{flow_id}/publish", json={})).status_code == 200
    return str(flow_id)


class TestThirtyDays:
    @pytest.mark.parametrize(
        ("start", "seed"), [("2027-03-10", 1), ("2027-10-15", 2)], ids=["to summer time", "to winter time"]
    )
    async def test_each_due_time_is_one_run_or_one_reason(
        self, app: FastAPI, monkeypatch: pytest.MonkeyPatch, start: str, seed: int
    ) -> None:
        await self.simulated(app, monkeypatch, start, seed)

    @pytest.mark.campaign
    @pytest.mark.both_databases
    @pytest.mark.timeout(1800)
    @pytest.mark.parametrize(("start", "seed"), [("2027-03-10", 3), ("2027-10-15", 4)])
    async def test_each_of_ten_thousand_due_times_with_a_hundred_kills(
        self, app: FastAPI, monkeypatch: pytest.MonkeyPatch, record_property: Record, start: str, seed: int
    ) -> None:
        often = [ScheduleConfig(every_seconds=900)] * 4
        occurrences, kills = await self.simulated(app, monkeypatch, start, seed, often)
        record_property("occurrences", occurrences)
        record_property("kills", kills)
        assert occurrences >= 10_000
        assert kills >= 100

    async def simulated(
        self,
        app: FastAPI,
        monkeypatch: pytest.MonkeyPatch,
        start: str,
        seed: int,
        often: Sequence[ScheduleConfig] = (),
    ) -> tuple[int, int]:
        """Thirty days; `often`: schedules in addition, which catch everything up. Returns occurrences and kills."""
        begin = microseconds(datetime.fromisoformat(start).replace(tzinfo=UTC))
        world = World(seed, begin)
        faulty(world, monkeypatch)
        flow_id = await published_flow(app)
        configs = [
            ScheduleConfig(cron="30 2 * * *", time_zone="Europe/Stockholm"),
            ScheduleConfig(cron="0 */2 * * *", time_zone="Europe/Stockholm"),
            ScheduleConfig(every_seconds=5 * 3600),
            *often,
        ]
        catch_ups = ("latest", "all", "none", *("all" for _ in often))
        ids = []
        for number, (config, catch_up) in enumerate(zip(configs, catch_ups, strict=True)):
            policies = {"overlap": "allow", "limit": 10_000, "catch_up": catch_up, "catch_up_hours": 48}
            body = TriggerIn.model_validate(
                {"name": f"t{number}", "config": config.model_dump(), "policies": policies, "input": {"text": "x"}}
            )
            async with app.state.database.writing() as session:
                made = await service.add_trigger(session, LOCAL, flow_id, body, box=app.state.box)
            ids.append(made.id)
        schedulers = [Scheduler(app.state.firing, app.state.services.jobs, app.state.poller) for _ in range(2)]
        while world.at < begin + 30 * DAY:
            world.step()
            turns = [work(app, world, f"worker {number}", made) for number, made in enumerate(schedulers)]
            if world.random.random() < 0.2:  # a claim is lost while its holder works
                turns += [free(app, world), work(app, world, "third", schedulers[0])]
            await asyncio.gather(*turns)
            await free(app, world)
        monkeypatch.undo()
        for module in (scheduler, firing_module, service, following):
            monkeypatch.setattr(module, "clock", world.clock)
        for _ in range(20):
            await free(app, world)
            await work(app, world, "last", schedulers[0])
        assert world.kills >= 10
        return await check(app, ids, configs), world.kills


async def check(app: FastAPI, ids: list[str], configs: list[ScheduleConfig]) -> int:
    """Each due time up to the cursor has one row; each started one has one run, and there are no other runs.

    Returns how many due times there were.
    """
    started: list[str] = []
    count = 0
    for trigger_id, config in zip(ids, configs, strict=True):
        async with app.state.database.reading() as session:
            trigger = await session.get_one(TriggerRow, trigger_id)
            query = select(OccurrenceRow).where(OccurrenceRow.trigger_id == trigger_id)
            rows = (await session.execute(query)).scalars().all()
        schedule = schedule_of(config, trigger.created_at)
        expected = list(takewhile(trigger.cursor_at.__ge__, schedule.moments(trigger.created_at)))
        assert sorted(row.due_at or 0 for row in rows) == expected
        assert len(expected) > 25
        count += len(expected)
        assert {row.status for row in rows} <= {"started", "skipped"}
        assert all(row.reason == "missed" for row in rows if row.status == "skipped")
        assert all(row.flow_run_id for row in rows if row.status == "started")
        started += [row.flow_run_id or "" for row in rows if row.status == "started"]
    async with app.state.database.reading() as session:
        stored = (await session.execute(text("SELECT id FROM flow_runs"))).scalars().all()
    assert sorted(stored) == sorted(started)
    assert len(set(started)) == len(started) > 100
    return count
