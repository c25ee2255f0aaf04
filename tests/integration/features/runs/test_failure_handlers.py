"""Handlers of failed runs when the database or a start fails, on both databases."""

from typing import Any

import pytest
from sqlalchemy import select, update

from headgate.features.runs.engine import failure_handling
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.failure_handlers import repository, service
from headgate.features.runs.failure_handlers.service import MARGIN
from headgate.features.runs.failure_handlers.tables import failure_handlers
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, Settings
from tests.integration.features.runs.conformance import over
from tests.support.engine import make_flow, make_services, new_run, store_flow


@pytest.fixture
async def failed(database: Database, settings: Settings) -> Any:
    """An engine that starts no handler by itself, after a run that failed a while ago."""
    own = EngineSettings(recover_on_start=False)
    engine = build_engine(settings.model_copy(update={"engine": own}), database, make_services(database, engine=own))
    await engine.open()
    request = new_run(await store_flow(database, make_flow({"s": "Start"})), "hi")
    await engine.start(request)
    await over(engine, request.key.run_id)
    at = clock() - 2 * MARGIN
    async with database.writing() as session:
        change = update(flow_runs).where(flow_runs.c.id == request.key.run_id)
        await session.execute(change.values(status="failed", error_flow="Nothing", started_at=at, finished_at=at))
    yield engine
    await engine.close()


async def rows(database: Database) -> list[Any]:
    async with database.reading() as session:
        return list((await session.execute(select(failure_handlers))).all())


class TestClaims:
    async def test_that_failed_are_repeated(
        self, failed: Any, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A failure of the database during a claim left the run without its handler until the next start."""
        claim = repository.claim_new

        async def away(*_: Any, **_more: Any) -> bool:
            raise OSError("the database is away")

        monkeypatch.setattr(repository, "claim_new", away)
        with pytest.raises(OSError, match="away"):
            await failed.services.failure_handlers.claim()
        monkeypatch.setattr(repository, "claim_new", claim)
        assert len(await failed.services.failure_handlers.claim()) == 1

    async def test_find_failures_recorded_while_a_clock_was_wrong(
        self, failed: Any, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A process whose clock was an hour ahead for a while looked only for failures after that hour."""
        handlers = failed.services.failure_handlers
        async with database.writing() as session:
            await session.execute(update(flow_runs).values(status="completed"))
        monkeypatch.setattr(service, "clock", lambda: clock() + 60 * MARGIN)
        assert await handlers.claim() == []
        monkeypatch.undo()
        async with database.writing() as session:
            await session.execute(update(flow_runs).values(status="failed", finished_at=clock()))
        handlers._whole_at -= service.WHOLE_SECONDS
        assert len(await handlers.claim()) == 1

    async def test_of_a_process_whose_clock_was_ahead_are_taken_over(self, failed: Any, database: Database) -> None:
        handlers = failed.services.failure_handlers
        assert len(await handlers.claim()) == 1
        assert await handlers.claim() == []
        async with database.writing() as session:
            await session.execute(update(failure_handlers).values(claimed_at=clock() + 60 * MARGIN))
        assert len(await handlers.claim()) == 1


class TestStarts:
    async def test_that_fail_unexpectedly_end_with_a_reason(
        self, failed: Any, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They were repeated every half minute without an end."""

        async def broken(*_: Any) -> None:
            raise RuntimeError("a defect")

        monkeypatch.setattr(failure_handling, "_start", broken)
        await failure_handling.start_handlers(failed)
        (row,) = await rows(database)
        assert row.status == "due"
        old = clock() - 2 * failure_handling.LONGEST_RETRY
        async with database.writing() as session:
            await session.execute(update(failure_handlers).values(created_at=old, claimed_at=old))
        await failure_handling.start_handlers(failed)
        (row,) = await rows(database)
        assert (row.status, row.problem) == ("refused", failure_handling.UNEXPECTED)
