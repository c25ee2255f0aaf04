"""Does for a step whose component blocks the event loop what the loop would do: from another thread of the process."""

import asyncio
import time

import psycopg

from headgate.features.runs.engine.distributed.segment_worker import SegmentWorker, timed_out
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.postgres_statements import RENEW
from headgate.features.runs.transitions import Claim, RunKey, clock
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

CONNECT_SECONDS = 3
log = get_logger(__name__)


class Lifeguard:
    """Renews leases while a step works, and fails it when it may not go on. Used by the thread that waits for the loop.

    Args:
        url: A libpq URL of the database.
        segments: Whose steps are kept.
        shift: In whose name they are held.
    """

    def __init__(self, url: str, segments: SegmentWorker, shift: Shift) -> None:
        self._url = url
        self._segments = segments
        self._shift = shift
        self._outage = Outage(log, "database of leases")

    def renew(self) -> None:
        """Renew what is at work, if the loop is late with it. Raises nothing."""
        if time.monotonic() - self._segments.beaten_at < self._shift.seconds / 2:
            return
        held = list(self._segments.held())
        lease = self._shift.lease()
        values = {
            "worker_id": lease.worker_id,
            "until": lease.until,
            "runs": [one.run_id for one in held],
            "steps": [one.step_id for one in held],
            "attempts": [one.attempt for one in held],
        }
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
                connection.execute(RENEW.encode(), values)
        except psycopg.Error as error:
            self._outage.failed(error)
        else:
            self._outage.answered()

    def time_out(self, run_id: str, seconds: float) -> None:
        """Fail what is at work on a run: its task may not take longer than so many seconds. Raises nothing."""
        held = [(run.key, Claim(one.step_id, one.attempt)) for one, run in self._segments.held().items()]
        try:
            asyncio.run(self._fail([(key, claim) for key, claim in held if key.run_id == run_id], seconds))
        except Unavailable as error:
            # The hard limit's own message ends the run, once the database is there again.
            log.warning("time-out not written down", run_id=run_id, problem=error.detail)

    async def _fail(self, claims: list[tuple[RunKey, Claim]], seconds: float) -> None:
        store = PostgresRunStore(self._url, pool_size=1)
        await store.open()
        try:
            for key, claim in claims:
                await store.fail(key, timed_out(claim, seconds), clock())
        finally:
            await store.close()
