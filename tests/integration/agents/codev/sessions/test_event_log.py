"""What a session tells: read from the rows only when there is something new, and never half of how it rests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.sessions import event_log
from headgate.agents.codev.sessions.event_log import EventRecorder, LiveEvents
from headgate.agents.codev.sessions.repository import COMPLETED, IN_PROGRESS
from headgate.agents.codev.tables import SessionRow
from headgate.features.access.principal import LOCAL
from headgate.features.accounts.tables import Space
from headgate.features.jobs.queue import Job
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import new_id
from tests.support.patience import PATIENCE_SECONDS

OWNER = "this process"


class Watched(Database):
    """Counts how often it is read, and may be away."""

    reads = 0
    away = False

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        self.reads += 1
        async with super().reading() as session:
            yield session

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        async with super().writing() as session:
            yield session
            if self.away:
                raise Unavailable("The disk is full.")


@pytest.fixture
async def watched(database: Database) -> Watched:
    database.__class__ = Watched
    assert isinstance(database, Watched)
    return database


@pytest.fixture
async def session_id(watched: Watched) -> str:
    found = new_id()
    async with watched.writing() as session:
        assert await session.get(Space, LOCAL.space_id) is not None
        session.add(
            SessionRow(
                id=found,
                tenant_id=LOCAL.tenant_id,
                space_id=LOCAL.space_id,
                user_id=LOCAL.user_id,
                domain="memory",
                requirement="x",
                status=IN_PROGRESS,
                worker_id=OWNER,
                attempts=1,
                options={},
            )
        )
    return found


class TestFollowing:
    async def test_words_reads_no_rows_for_each(
        self, watched: Watched, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(event_log, "LOOK_SECONDS", PATIENCE_SECONDS)
        live = LiveEvents()
        emitter = EventRecorder(watched, live, Job(session_id, 1, OWNER, None))
        heard: list[str] = []

        async def follow() -> None:
            async for _, kind, data in event_log.follow(watched, live, session_id, 0):
                heard.append(str(data.get("text", kind)))

        async with asyncio.timeout(PATIENCE_SECONDS):
            following = asyncio.create_task(follow())
            for number in range(50):
                while len(heard) < number:  # noqa: ASYNC110
                    await asyncio.sleep(0)
                await asyncio.sleep(0)
                emitter.emit("token", {"text": str(number)})
                while not heard:  # the reader is there
                    await asyncio.sleep(0.001)
                    emitter.emit("token", {"text": str(number)})
            await emitter.rest(("done", {}), status=COMPLETED)
            await following
        assert heard[-1] == "done"
        assert watched.reads <= 3

    async def test_what_this_process_does_reads_no_rows_for_each_event_either(
        self, watched: Watched, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(event_log, "LOOK_SECONDS", PATIENCE_SECONDS)
        live = LiveEvents()
        emitter = EventRecorder(watched, live, Job(session_id, 1, OWNER, None))
        heard: list[int] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            following = asyncio.create_task(numbers_heard(watched, live, session_id, heard))
            for number in range(30):
                await tell_one(emitter, number)
                while len(heard) <= number:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
            await emitter.rest(("done", {}), status=COMPLETED)
            await following
        assert heard == list(range(1, 32))
        assert watched.reads <= 4

    async def test_tells_what_others_did_meanwhile_once_and_in_its_order(
        self, watched: Watched, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(event_log, "LOOK_SECONDS", PATIENCE_SECONDS)
        live = LiveEvents()
        job = Job(session_id, 1, OWNER, None)
        ours, theirs = EventRecorder(watched, live, job), EventRecorder(watched, LiveEvents(), job)
        heard: list[int] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            following = asyncio.create_task(numbers_heard(watched, live, session_id, heard))
            await tell_one(ours, 1)
            while not heard:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            for emitter in (theirs, theirs, ours, ours):
                await tell_one(emitter, 2)
            while len(heard) < 5:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await ours.rest(("done", {}), status=COMPLETED)
            await following
        assert heard == [1, 2, 3, 4, 5, 6]

    async def test_slowly_misses_nothing(
        self, watched: Watched, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(event_log, "MOST_WAITING", 3)
        live = LiveEvents()
        emitter = EventRecorder(watched, live, Job(session_id, 1, OWNER, None))
        following = event_log.follow(watched, live, session_id, 0)
        await tell_one(emitter, 0)
        heard = [(await anext(following))[0]]
        for number in range(20):
            await tell_one(emitter, number)
        await emitter.rest(("done", {}), status=COMPLETED)
        heard += [number async for number, _, _ in following]
        assert heard == list(range(1, 23))


async def tell_one(emitter: EventRecorder, number: int) -> None:
    """An event, written down by itself."""
    emitter.emit("usage", {"input_tokens": number, "output_tokens": 0})
    await emitter.write()


async def numbers_heard(database: Database, live: LiveEvents, session_id: str, heard: list[int]) -> None:
    """Follow, and note the numbers of events."""
    async for number, _, _ in event_log.follow(database, live, session_id, 0):
        heard.append(number)


class TestResting:
    async def test_that_could_not_be_written_down_leaves_nothing_behind(
        self, watched: Watched, session_id: str
    ) -> None:
        emitter = EventRecorder(watched, LiveEvents(), Job(session_id, 1, OWNER, None))
        emitter.emit("usage", {"input_tokens": 7, "output_tokens": 1})
        watched.away = True
        with pytest.raises(Unavailable):
            await emitter.rest(("done", {}), status=COMPLETED, answer=None)
        watched.away = False
        await emitter.write()
        await emitter.close()
        async with watched.reading() as session:
            row = await session.get_one(SessionRow, session_id)
        assert (row.status, row.worker_id, row.input_tokens, row.events) == (IN_PROGRESS, OWNER, 7, 1)
