"""Many sessions at once, many readers of one, and what a session leaves on the disk."""

import asyncio
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import func, select

from headgate.agents.codev.ports import ModelAnswer
from headgate.agents.codev.schemas import SessionStart
from headgate.agents.codev.sessions.checkpoints import FILE, config_of
from headgate.agents.codev.tables import EventRow, WriteRow
from headgate.agents.codev.writing.events import emit
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database, now
from headgate.foundation.settings import CodevSettings, Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_script import Calls, ScriptedReasoning, scripted
from tests.support.codev_sessions import SETS_HELLO, open_bench
from tests.support.patience import PATIENCE_SECONDS
from tests.support.tenants import add_tenant

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@dataclass(slots=True)
class Busy(ScriptedReasoning):
    """Knows how many sessions ask it at once."""

    now: int = 0
    most: int = 0
    order: list[str] = field(default_factory=list)

    async def complete(self, messages: Any, **more: Any) -> ModelAnswer:
        self.now += 1
        self.most = max(self.most, self.now)
        self.order.append(str(messages[0]["data"]["content"]))
        await asyncio.sleep(0.01)
        self.now -= 1
        return await ScriptedReasoning.complete(self, messages, **more)


class TestManyAtOnce:
    async def test_are_all_worked_on_a_few_at_a_time(self, settings: Settings, database: Database) -> None:
        few = settings.model_copy(update={"codev": CodevSettings(max_sessions=8)})
        model = Busy(scripted().script)
        async with open_bench(few, database, FakePlace(greeter="nothing"), model) as bench:
            begun = await asyncio.gather(
                *(
                    bench.sessions.start(LOCAL, SessionStart(requirement=f"Flow {n:02}.", domain="memory"))
                    for n in range(50)
                )
            )
            async with asyncio.timeout(PATIENCE_SECONDS):
                states = await asyncio.gather(*(bench.sessions.wait(LOCAL, one.thread_id) for one in begun))
        assert {one.phase for one in states} == {"approve_plan"}
        assert model.most <= 8


class TestTurns:
    async def test_of_a_tenant_come_though_another_has_many(self, settings: Settings, database: Database) -> None:
        few = settings.model_copy(update={"codev": CodevSettings(max_sessions=2)})
        model, them = Busy(scripted().script), await add_tenant(database)
        async with open_bench(few, database, FakePlace(greeter="nothing"), model) as bench:
            for n in range(20):
                await bench.sessions.start(LOCAL, SessionStart(requirement=f"Ours {n}.", domain="memory"))
            theirs = [
                await bench.sessions.start(them, SessionStart(requirement=f"Theirs {n}.", domain="memory"))
                for n in range(2)
            ]
            async with asyncio.timeout(PATIENCE_SECONDS):
                for one in theirs:
                    await bench.sessions.wait(them, one.thread_id)
            begun = [text.split("\n\n")[1] for text in model.order]
        first = list(dict.fromkeys(begun))
        assert max(first.index("Theirs 0."), first.index("Theirs 1.")) < 15, first


class TestReaders:
    async def test_of_a_long_session_all_read_all_of_it(self, settings: Settings, database: Database) -> None:
        async with open_bench(settings, database, FakePlace(greeter="nothing")) as bench:
            plan = await bench.start(flow_id="greeter")
            async with database.writing() as session:
                events = [("tool_result", {"id": str(n), "preview": "x" * 200}) for n in range(5_000)]
                last = await emit(session, plan.thread_id, events, now())

            async def read() -> int:
                return len([one async for one in bench.sessions.follow(LOCAL, plan.thread_id)])

            began = monotonic()
            found = await asyncio.gather(*(read() for _ in range(20)))
        assert set(found) == {last}
        assert monotonic() - began < 30


class TestDisk:
    async def test_keeps_little_of_a_long_phase_and_nothing_of_a_deleted_session(
        self, settings: Settings, database: Database
    ) -> None:
        place = FakePlace(greeter="nothing")
        place.flows["big"] = place._put("big", "Big", {"answer": "x" * 30_000})
        looks = [Calls((("read_flow", {"flow_id": "big", "n": number}),)) for number in range(30)]
        script = scripted(patch=(*looks, *SETS_HELLO))
        async with open_bench(settings, database, place, script) as bench:
            plan = await bench.start(flow_id="greeter")
            review = await bench.answer(plan, approved=True)
            assert review.phase == "review"
            after = sum(one.stat().st_size for one in settings.data_dir.glob(f"{FILE}*"))
            saver = await bench.runner.checkpoints.saver()
            kept = [one async for one in saver.alist(config_of(plan.thread_id))]
            done = await bench.answer(review, accepted=True)
            again = await bench.start(flow_id="greeter")
            await bench.answer(await bench.answer(again, approved=True), accepted=True)
            twice = sum(one.stat().st_size for one in settings.data_dir.glob(f"{FILE}*"))
            await bench.sessions.delete(LOCAL, done.thread_id)
            assert await bench.runner.checkpoints.state(done.thread_id) == {}
            async with saver.lock:
                for table in ("checkpoints", "writes"):
                    cursor = await saver.conn.execute(
                        f"SELECT count(*) FROM {table} WHERE thread_id = ?", (done.thread_id,)
                    )
                    assert await cursor.fetchone() == (0,)
        async with database.reading() as session:
            for rows in (EventRow, WriteRow):
                count = select(func.count()).select_from(rows).where(rows.session_id == done.thread_id)
                assert (await session.execute(count)).scalar_one() == 0
        assert len(kept) == 1
        assert max(after, twice) < 40e6, (after, twice)
