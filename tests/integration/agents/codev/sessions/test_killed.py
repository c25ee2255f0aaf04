"""A process is killed right after it recorded a write: the session's events still tell of the write, once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.schemas import Resume
from headgate.agents.codev.tables import EventRow, WriteRow
from headgate.agents.codev.writing.repository import DONE
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import open_bench
from tests.support.patience import PATIENCE_SECONDS


class Killed(Database):
    """The database as a process sees it that is killed as soon as a write is recorded: nothing of it comes later."""

    dead: asyncio.Event
    buried: asyncio.Event

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        if self.dead.is_set():
            await self._stay()
        async with super().writing() as session:
            yield session
        async with self.reading() as session:
            if (await session.execute(select(WriteRow.id).where(WriteRow.state == DONE))).first():
                self.dead.set()
                await self._stay()

    async def _stay(self) -> None:
        await self.buried.wait()
        raise Unavailable("The process was killed.")


class TestAWrite:
    async def test_that_was_recorded_before_a_kill_has_its_event(self, settings: Settings, database: Database) -> None:
        killed, place = Killed(settings), FakePlace(greeter="nothing")
        killed.dead, killed.buried = asyncio.Event(), asyncio.Event()
        async with open_bench(settings, killed, place) as bench:
            plan = await bench.start(flow_id="greeter")
            assert plan.interrupt is not None
            yes = {"type": plan.interrupt.type, "approved": True}
            answer = Resume.model_validate({"interrupt_id": plan.interrupt.id, "response": yes})
            await bench.sessions.resume(LOCAL, plan.thread_id, answer)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await killed.dead.wait()
            await bench.die()
            async with open_bench(settings, database, place) as other:
                await other.runner.jobs.recover()
                assert (await other.rested(plan.thread_id)).phase == "review"
            killed.buried.set()
        async with database.reading() as session:
            events = (await session.execute(select(EventRow).order_by(EventRow.number))).scalars().all()
        await killed.close()
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert [(event.data["flow_id"], event.data["state"]) for event in events if event.kind == "write"] == [
            ("greeter", "done")
        ]
        assert place.written == [("greeter", "hello")]
