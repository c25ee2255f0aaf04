"""Heartbeat from a second thread, for steps whose component blocks the event loop."""

import asyncio
import time

import psycopg

from headgate.features.runs.engine.distributed.segment_worker import SegmentWorker, timed_out
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.postgres_statements import RENEW
from headgate.features.runs.transitions import Claim, RunKey, clock
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

CONNECT_SECONDS = 3
log = get_logger(__name__)


class LeaseHeartbeat:
    """Renews leases while a step runs, and fails it at its time limit. Used by the thread that waits for the loop.

    Args:
        url: A libpq URL of the database.
        segments: The steps whose leases are renewed.
        worker_lease: The worker that holds them.
    """

    def __init__(self, url: str, segments: SegmentWorker, worker_lease: WorkerLease) -> None:
        self._url = url
        self._segments = segments
        self._worker_lease = worker_lease
        self._outage = Outage(log, "database of leases")

    def renew(self) -> None:
        """Renew the leases of running steps if the loop is late. Raises nothing."""
        if time.monotonic() - self._segments.beaten_at < self._worker_lease.seconds / 2:
            return
        held_steps = list(self._segments.held())
        lease = self._worker_lease.lease()
        values = {
            "worker_id": lease.worker_id,
            "until": lease.until,
            "runs": [step.run_id for step in held_steps],
            "steps": [step.step_id for step in held_steps],
            "attempts": [step.attempt for step in held_steps],
        }
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
                connection.execute(RENEW.encode(), values)
        except psycopg.Error as error:
            self._outage.failed(error)
        else:
            self._outage.answered()

    def time_out(self, run_id: str, seconds: float) -> None:
        """Fail the running steps of a run whose task exceeds its time limit in seconds. Raises nothing."""
        held_steps = [(run.key, Claim(step.step_id, step.attempt)) for step, run in self._segments.held().items()]
        try:
            asyncio.run(self._fail([(key, claim) for key, claim in held_steps if key.run_id == run_id], seconds))
        except Unavailable as error:
            # The message of the hard limit ends the run once the database is available again.
            log.warning("timeout not recorded", run_id=run_id, problem=error.detail)

    async def _fail(self, claims: list[tuple[RunKey, Claim]], seconds: float) -> None:
        store = PostgresRunStore(self._url, pool_size=1)
        await store.open()
        try:
            for key, claim in claims:
                await store.fail(key, timed_out(claim, seconds), clock())
        finally:
            await store.close()
