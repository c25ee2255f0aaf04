import asyncio

import pytest
from structlog.testing import capture_logs

from headgate.features.jobs import upkeep
from headgate.features.jobs.upkeep import repeat
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import configure, get_logger
from headgate.foundation.outages import Outage
from headgate.foundation.settings import LogSettings


@pytest.fixture(autouse=True)
def talkative() -> None:
    """Other tests may have silenced the log."""
    configure(LogSettings(level="info"))


class TestRepeat:
    async def test_goes_on_after_any_error_and_logs_an_outage_once(self) -> None:
        stopped = asyncio.Event()
        outcomes = iter([None, Unavailable("gone"), Unavailable("gone"), ValueError("a fault"), None])

        async def work() -> None:
            outcome = next(outcomes, stopped)
            if outcome is stopped:
                stopped.set()
            elif isinstance(outcome, Exception):
                raise outcome

        with capture_logs() as lines:
            outage = Outage(get_logger("test"), "database")
            async with asyncio.timeout(60):
                await repeat(work, 0.001, outage, stopped=stopped)
        logged = [line["event"] for line in lines]
        assert logged == ["database is unavailable", "upkeep failed", "database is available again"]

    async def test_ends_when_it_is_cancelled(self) -> None:
        began = asyncio.Event()

        async def work() -> None:
            began.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(repeat(work, 0.001, Outage(get_logger("test"), "database")))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class TestEnd:
    async def test_cancels_again_a_task_that_lost_its_cancellation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server that stopped waited for ever for such a task."""
        monkeypatch.setattr(upkeep, "CANCEL_AGAIN_SECONDS", 0.01)
        lost = 0

        async def forgetful() -> None:
            nonlocal lost
            while lost < 2:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    lost += 1
            await asyncio.Event().wait()

        tasks = [asyncio.create_task(forgetful()), asyncio.create_task(asyncio.Event().wait())]
        await asyncio.sleep(0)
        await upkeep.end(tasks)
        assert all(task.cancelled() for task in tasks)
        assert lost == 2
        await upkeep.end([])
