"""Sessions that are long over, and what is left of deleted ones, on both databases."""

import sys
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from headgate.agents.codev.schemas import SessionResponse
from headgate.agents.codev.sessions import expiry, repository
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.expiry import expiry_of
from headgate.agents.codev.sessions.runner import KIND
from headgate.agents.codev.tables import EventRow, SessionRow, WriteRow
from headgate.features.access.principal import LOCAL
from headgate.features.accounts.spaces.service import delete_space
from headgate.features.audit.tables import AuditEvent
from headgate.features.maintenance.outcome import Outcome
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings, Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import SETS_HELLO, Bench, open_bench, scripted
from tests.support.people import add_space_row

pytestmark = pytest.mark.timeout(60)


async def expire(settings: Settings, database: Database, *, dry: bool = False, **retention: Any) -> Outcome:
    return await expiry_of(settings).execute(database, None, RetentionSettings(**retention), dry=dry)


async def make_old(database: Database, session: SessionResponse, days: int, **more: Any) -> None:
    change = update(SessionRow).where(SessionRow.id == session.thread_id)
    async with database.writing() as writing:
        await writing.execute(change.values(updated_at=now() - timedelta(days=days), **more))


async def left(database: Database, bench: Bench) -> tuple[set[str], set[str]]:
    """Sessions that are there, and those of which checkpoints are."""
    async with database.reading() as session:
        rows = set((await session.execute(select(SessionRow.id))).scalars())
    return rows, set(await bench.runner.checkpoints.sessions(after="", limit=100))


@pytest.fixture(autouse=True)
async def nothing_left_of_other_tests(settings: Settings, database: Database) -> None:
    """A database of PostgreSQL is emptied between tests, but for the schema of checkpoints."""
    await expire(settings, database)


def on(settings: Settings, database: Database) -> Any:
    return open_bench(settings, database, FakePlace(greeter="nothing", again="nothing"), scripted(patch=SETS_HELLO * 2))


class TestExpiry:
    async def test_deletes_what_is_long_over_and_leaves_the_rest(self, settings: Settings, database: Database) -> None:
        async with on(settings, database) as bench:
            over, young, waiting = [
                await bench.finished(flow_id="greeter"),
                await bench.finished(flow_id="again"),
                await bench.start(flow_id="greeter"),
            ]
            await make_old(database, over, 91)
            await make_old(database, young, 89)
            await make_old(database, waiting, 364)
            assert (await expire(settings, database, dry=True)).sessions == 1
            assert len((await left(database, bench))[0]) == 3
            found = await expire(settings, database)
            kept = {young.thread_id, waiting.thread_id}
            assert await left(database, bench) == (kept, kept)
            assert found.tenants == {LOCAL.tenant_id: {"runs": 0, "sessions": 1, "artifacts": 0}}
            async with database.reading() as session:
                assert over.thread_id not in set((await session.execute(select(EventRow.session_id))).scalars())
                assert over.thread_id not in set((await session.execute(select(WriteRow.session_id))).scalars())
                audited = (await session.execute(select(AuditEvent).where(AuditEvent.actor_kind == "system"))).scalars()
                assert [(one.action, one.resource_id) for one in audited] == [
                    ("codev_session.expired", over.thread_id)
                ]  # fmt: skip
            assert (await bench.answer(waiting, approved=True)).interrupt is not None

    @pytest.mark.parametrize(
        ("stands", "kept", "stays"),
        [
            (("stopped", 91), {}, False),
            (("error", 91), {}, False),
            (("error", 91), {"session_days": None}, True),
            (("pending_interrupt", 366), {}, False),
            (("pending_interrupt", 366), {"waiting_session_days": None}, True),
            (("in_progress", 4000), {}, True),
        ],
    )
    async def test_is_by_state(
        self, settings: Settings, database: Database, stands: tuple[str, int], kept: dict[str, Any], *, stays: bool
    ) -> None:
        async with on(settings, database) as bench:
            waiting = await bench.start(flow_id="greeter")
            await make_old(database, waiting, stands[1], status=stands[0])
            await expire(settings, database, **kept)
            assert await left(database, bench) == (({waiting.thread_id},) * 2 if stays else (set(), set()))

    async def test_leaves_one_that_somebody_has(self, settings: Settings, database: Database) -> None:
        async with on(settings, database) as bench:
            over = await bench.start(flow_id="greeter")
            await make_old(database, over, 91, status="stopped")
            async with bench.runner.jobs.hold(KIND, over.thread_id):
                assert (await expire(settings, database)).sessions == 0
            assert (await expire(settings, database)).sessions == 1

    async def test_leaves_one_that_is_answered_at_that_moment(
        self, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with on(settings, database) as bench:
            waiting = await bench.start(flow_id="greeter")
            await make_old(database, waiting, 366)
            find = repository.find_expired

            async def and_answer(*given: Any, **named: Any) -> Any:
                found = await find(*given, **named)
                if found:
                    await bench.answer(waiting, approved=True)
                return found

            monkeypatch.setattr(repository, "find_expired", and_answer)
            assert (await expire(settings, database)).sessions == 0
            assert (await bench.sessions.get(LOCAL, waiting.thread_id)).phase == "review"

    async def test_goes_through_many(
        self, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(expiry, "BATCH", 2)
        async with on(settings, database) as bench:
            for _ in range(5):
                await make_old(database, await bench.start(flow_id="greeter"), 91, status="stopped")
            assert (await expire(settings, database)).sessions == 5
            assert await left(database, bench) == (set(), set())


class TestWhatIsGone:
    async def test_with_its_space_leaves_no_checkpoints(self, settings: Settings, database: Database) -> None:
        async with on(settings, database) as bench:
            space = await add_space_row(database, "Passing")
            gone, kept = await bench.start(space_id=space), await bench.start(flow_id="greeter")
            async with database.writing() as session:
                await delete_space(session, LOCAL, space)
            assert await left(database, bench) == ({kept.thread_id}, {gone.thread_id, kept.thread_id})
            assert (await expire(settings, database, dry=True)).sessions == 1
            assert (await expire(settings, database)).sessions == 1
            assert await left(database, bench) == ({kept.thread_id},) * 2

    async def test_is_looked_for_without_langgraph_where_nothing_is(
        self, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "headgate.agents.codev.sessions.savers", None)
        assert (await expire(settings, database)).sessions == 0
        assert await Checkpoints(settings, database).sessions(after="", limit=9) in ((), [])
