"""What could not be kept of what was accepted is said where the session's end is told."""

import pytest

from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import open_bench

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


class TestCompletedSession:
    async def test_says_what_was_not_kept(self, settings: Settings, database: Database) -> None:
        async with open_bench(settings, database, FakePlace(greeter="nothing")) as bench:
            bench.patterns.failing = Unavailable("The library is down.")
            state = await bench.finished(flow_id="greeter")
            summary = await bench.sessions.summary(LOCAL, state.thread_id)
        assert state.status == "completed"
        assert not state.can_go_on
        assert state.stop_reason.startswith("The flow was not stored as a pattern: The library is down.")
        assert state.stop_reason in summary.summary

    async def test_says_nothing_where_all_was_kept(self, settings: Settings, database: Database) -> None:
        async with open_bench(settings, database, FakePlace(greeter="nothing")) as bench:
            state = await bench.finished(flow_id="greeter")
        assert (state.status, state.stop_reason) == ("completed", "")
