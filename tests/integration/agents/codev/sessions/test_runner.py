"""Who works on which session, in which order, and what a runner survives."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from headgate.agents.codev.errors import SessionAtWork
from headgate.agents.codev.ports import ModelAnswer
from headgate.agents.codev.schemas import SessionStart
from headgate.agents.codev.sessions.repository import SESSIONS, turns
from headgate.agents.codev.sessions.runner import KIND
from headgate.features.access.principal import LOCAL
from headgate.features.jobs.leases import Lease, clock
from headgate.features.jobs.queue import Queue
from headgate.foundation.database import Database
from headgate.foundation.settings import CodevSettings, Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_script import ScriptedReasoning, scripted
from tests.support.codev_sessions import SETS_HELLO, Bench, open_bench
from tests.support.patience import PATIENCE_SECONDS
from tests.support.tenants import add_tenant


@dataclass(slots=True)
class Gate(ScriptedReasoning):
    """A model that answers when it is let, and knows what it was asked."""

    wanted: list[str] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, messages: Any, **more: Any) -> ModelAnswer:
        said = str(messages[0]["data"]["content"])
        self.wanted.append(next(word for word in said.split() if word.startswith("number-")))
        await self.go_on.wait()
        return await ScriptedReasoning.complete(self, messages, **more)


@pytest.fixture
def place() -> FakePlace:
    return FakePlace(greeter="nothing")


@pytest.fixture
def gate() -> Gate:
    return Gate(scripted(patch=SETS_HELLO).script)


def with_room(settings: Settings, sessions: int) -> Settings:
    return settings.model_copy(update={"codev": CodevSettings(max_sessions=sessions)})


async def begin(bench: Bench, number: int) -> str:
    wanted = SessionStart(requirement=f"Make number-{number} .", domain="memory", flow_id="greeter")
    return (await bench.sessions.start(LOCAL, wanted)).thread_id


async def until_asked(gate: Gate, times: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(gate.wanted) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


class TestRoom:
    async def test_is_not_more_because_many_come_at_once(
        self, settings: Settings, database: Database, place: FakePlace, gate: Gate
    ) -> None:
        async with open_bench(with_room(settings, 1), database, place, gate) as full:
            first = await begin(full, 0)
            await until_asked(gate, 1)
            waiting = [await begin(full, number) for number in range(1, 6)]
            assert not any(full.works_on(one) for one in waiting)
            async with open_bench(with_room(settings, 2), database, place, gate) as other:
                for one in waiting:
                    other.runner.begin(one)
                await until_asked(gate, 3)
                await asyncio.sleep(0.1)
                assert sum(other.works_on(one) for one in waiting) == 2
            assert full.works_on(first)

    async def test_goes_to_who_came_first(
        self, settings: Settings, database: Database, place: FakePlace, gate: Gate
    ) -> None:
        async with open_bench(settings, database, place, gate) as left:
            await begin(left, 1)
            await until_asked(gate, 1)
        async with open_bench(with_room(settings, 1), database, place, gate) as bench:
            newcomer = await begin(bench, 2)
            await until_asked(gate, 2)
            assert gate.wanted == ["number-1", "number-1"]
            assert not bench.works_on(newcomer)
            gate.go_on.set()
            assert (await bench.rested(newcomer)).phase == "approve_plan"


class TestACommand:
    async def test_takes_up_nothing_of_others(
        self, settings: Settings, database: Database, place: FakePlace, gate: Gate
    ) -> None:
        async with open_bench(settings, database, place, gate) as left:
            await begin(left, 1)
            await until_asked(gate, 1)
        gate.go_on.set()
        async with open_bench(settings, database, place, gate, scans=False) as command:
            own = await begin(command, 2)
            assert (await command.rested(own)).phase == "approve_plan"
            async with asyncio.timeout(PATIENCE_SECONDS):
                while command.works_on(own):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
        assert gate.wanted.count("number-1") == 1


class TestAnError:
    async def test_that_is_no_sessions_own_ends_none(
        self,
        settings: Settings,
        database: Database,
        place: FakePlace,
        gate: Gate,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate.go_on.set()
        claim, wrong = Queue.claim, [RuntimeError("No connection of the pool was free.")]

        async def once_wrong(*given: Any, **more: Any) -> Any:
            if wrong:
                raise wrong.pop()
            return await claim(*given, **more)

        monkeypatch.setattr(Queue, "claim", once_wrong)
        async with open_bench(settings, database, place, gate) as bench:
            assert (await bench.rested(await begin(bench, 1))).phase == "approve_plan"
        assert not wrong


class TestHolding:
    async def test_keeps_everybody_else_away(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place) as bench, open_bench(settings, database, place) as other:
            plan = await bench.start(flow_id="greeter")
            async with bench.runner.jobs.hold(KIND, plan.thread_id):
                for one in (bench, other):
                    with pytest.raises(SessionAtWork):
                        await one.sessions.delete(LOCAL, plan.thread_id)
                    with pytest.raises(SessionAtWork):
                        await one.answer(plan, approved=True)
            await other.sessions.delete(LOCAL, plan.thread_id)

    async def test_ends_with_the_process_that_did(
        self, settings: Settings, database: Database, place: FakePlace
    ) -> None:
        async with open_bench(settings, database, place) as killed:
            plan, other_plan = await killed.start(flow_id="greeter"), await killed.start(flow_id="greeter")
            async with (
                killed.runner.jobs.hold(KIND, plan.thread_id),
                killed.runner.jobs.hold(KIND, other_plan.thread_id),
            ):
                await killed.die()
                async with open_bench(settings, database, place, scans=False) as command:
                    await command.sessions.delete(LOCAL, other_plan.thread_id)
                    assert (await command.answer(plan, approved=True)).phase == "review"


class TestStopping:
    async def test_from_another_process_ends_the_work_and_waits_for_what_it_writes(
        self, settings: Settings, database: Database, place: FakePlace, gate: Gate
    ) -> None:
        async with (
            open_bench(settings, database, place, gate) as bench,
            open_bench(settings, database, place, scans=False) as other,
        ):
            begun = await begin(bench, 1)
            await until_asked(gate, 1)
            assert (await other.sessions.stop(LOCAL, begun)).status == "stopped"
            with pytest.raises(SessionAtWork):
                await other.sessions.delete(LOCAL, begun)
            await bench.runner.jobs._renew()
            await bench.runner.jobs.wait(KIND, begun, PATIENCE_SECONDS)
            await other.sessions.delete(LOCAL, begun)


class TestTurns:
    async def test_are_of_who_has_the_fewest_at_work_and_then_by_age(
        self, settings: Settings, database: Database
    ) -> None:
        them, lease = await add_tenant(database), Lease("o", clock(), clock() + 60_000_000)
        async with open_bench(settings, database, FakePlace(greeter="nothing")) as bench:
            await bench.runner.jobs.close()  # nothing is worked on
            found = {}
            for who, name in ((LOCAL, "a1"), (LOCAL, "a2"), (LOCAL, "a3"), (them, "b1"), (them, "b2"), (LOCAL, "a4")):
                begun = await bench.sessions.start(who, SessionStart(requirement=name, domain="memory"))
                found[begun.thread_id] = name
            (first,) = [one for one, name in found.items() if name == "a1"]
            async with database.writing() as session:
                assert await SESSIONS.take(session, first, lease)
            async with database.reading() as session:
                due = (await session.execute(turns(SESSIONS.table.c.worker_id.is_(None), clock()))).all()
            async with database.writing() as session:
                claimed = await SESSIONS.claim(session, Lease("o", clock(), lease.until), limit=3)
        assert [found[row.id] for row in due] == ["b1", "a2", "b2", "a3", "a4"]
        assert {found[one.id] for one in claimed} == {"b1", "a2", "b2"}
