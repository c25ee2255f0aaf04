"""The pauses between restarts of a service."""

from pathlib import Path

import pytest

from headgate.entrypoints import supervisor
from headgate.entrypoints.process_record import ProcessRecord
from headgate.entrypoints.supervisor import POLL_SECONDS, Part, Supervisor
from headgate.foundation.errors import Unavailable


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.now


class DyingService:
    """A service that takes long to start and ends as soon as it answers, or never answers."""

    name, pid, ends_by = "postgres", None, 15

    def __init__(self, clock: Clock, *, answers: bool) -> None:
        self._clock, self._answers = clock, answers

    def is_alive(self) -> bool:
        """Never."""
        return False

    def restart(self) -> None:
        """Take half a minute, as a database that recovers does."""
        self._clock.now += 30.0
        if not self._answers:
            raise Unavailable("The database did not start.")


class Impatient(Supervisor):
    """Does not wait; notes how long it would have, up to six times."""

    def __init__(self, record: ProcessRecord, service: DyingService) -> None:
        super().__init__([Part("serve", [])], record, [service])
        self.service, self.pauses = service, list[float]()

    async def pauses_of_restarts(self) -> list[float]:
        """The pauses before the first six restarts."""
        await self._guard(self.service, 0)
        return self.pauses

    async def _stops_within(self, pause: float) -> bool:
        if pause != POLL_SECONDS:
            self.pauses.append(pause)
        return len(self.pauses) >= 6


class TestGuard:
    @pytest.mark.parametrize("answers", [True, False])
    async def test_waits_longer_after_each_start_that_did_not_last_however_long_it_took(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, answers: bool
    ) -> None:
        clock = Clock()
        monkeypatch.setattr(supervisor, "time", clock)
        guarding = Impatient(ProcessRecord(tmp_path), DyingService(clock, answers=answers))
        assert await guarding.pauses_of_restarts() == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0]
