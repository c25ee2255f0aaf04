"""Who works on which session, in which order, and what a runner survives."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from headgate.agents.codev.errors import SessionAtWork
from headgate.agents.codev.ports import Said
from headgate.agents.codev.schemas import SessionStart
from headgate.agents.codev.sessions import repository
from headgate.agents.codev.sessions.holding import held
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database, now
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

    async def complete(self, messages: Any, **more: Any) -> Said:
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
            assert not any(full.runner.works_on(one) for one in waiting)
            async with open_bench(with_room(settings, 2), database, place, gate) as other:
                assert sum(await asyncio.gather(*(other.runner.take(one) for one in waiting))) == 2
            assert full.runner.works_on(first)

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
            assert not bench.runner.works_on(newcomer)
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
        async with open_bench(settings, database, place, gate) as command:
            command.runner.shares = False
            own = await begin(command, 2)
            assert (await command.rested(own)).phase == "approve_plan"
            async with asyncio.timeout(PATIENCE_SECONDS):
                while command.runner.works_on(own):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
        assert gate.wanted.count("number-1") == 1


class TestSweeping:
    async def test_goes_on_whatever_went_wrong_once(
        self,
        settings: Settings,
        database: Database,
        place: FakePlace,
        gate: Gate,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        quick = settings.model_copy(update={"codev": CodevSettings(lease_seconds=0.3)})
        async with open_bench(quick, database, place, gate) as left:
            begun = await begin(left, 1)
            await until_asked(gate, 1)
        gate.go_on.set()
        find_due, wrong = repository.find_due, [RuntimeError("No connection of the pool was free.")]

        async def once_wrong(*given: Any, **more: Any) -> Any:
            if wrong:
                raise wrong.pop()
            return await find_due(*given, **more)

        monkeypatch.setattr(repository, "find_due", once_wrong)
        async with open_bench(quick, database, place, gate, sweeps=True) as bench:
            assert (await bench.rested(begun)).phase == "approve_plan"
        assert not wrong


class TestHolding:
    async def test_lasts_as_long_as_it_takes(self, settings: Settings, database: Database, place: FakePlace) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(flow_id="greeter")
            async with held(database, plan.thread_id, timedelta(seconds=0.2)):
                await asyncio.sleep(0.6)
                with pytest.raises(SessionAtWork):
                    await bench.sessions.delete(LOCAL, plan.thread_id)
            await bench.sessions.delete(LOCAL, plan.thread_id)


class TestTurns:
    async def test_are_of_who_has_the_fewest_at_work_and_then_by_age(
        self, settings: Settings, database: Database
    ) -> None:
        them, at = await add_tenant(database), now()
        no_one = settings.model_copy(update={"codev": CodevSettings(max_sessions=1)})
        async with open_bench(no_one, database, FakePlace(greeter="nothing")) as bench:
            bench.runner._closed = True  # nothing is worked on
            found = {}
            for who, name in ((LOCAL, "a1"), (LOCAL, "a2"), (LOCAL, "a3"), (them, "b1"), (them, "b2"), (LOCAL, "a4")):
                begun = await bench.sessions.start(who, SessionStart(requirement=name, domain="memory"))
                found[begun.thread_id] = name
            (first,) = [one for one, name in found.items() if name == "a1"]
            async with database.writing() as session:
                await repository.claim(
                    session, first, status=repository.IN_PROGRESS, owner="o", at=at, until=at + timedelta(minutes=1)
                )
            async with database.reading() as session:
                due = await repository.find_due(session, status=repository.IN_PROGRESS, at=now(), limit=9)
        assert [found[one] for one in due] == ["b1", "a2", "b2", "a3", "a4"]
