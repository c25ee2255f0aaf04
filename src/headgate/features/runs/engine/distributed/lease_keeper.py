"""Renews leases from outside the event loop: a component that blocks the loop must not lose its step for it."""

import time

import psycopg

from headgate.features.runs.engine.distributed.segment_worker import SegmentWorker
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.store.postgres_statements import RENEW
from headgate.foundation.log import get_logger

CONNECT_SECONDS = 3
log = get_logger(__name__)


class LeaseKeeper:
    """Used by the thread that waits for the loop.

    Args:
        url: A libpq URL of the database.
        segments: Whose steps are kept.
        shift: In whose name they are held.
    """

    def __init__(self, url: str, segments: SegmentWorker, shift: Shift) -> None:
        self._url = url
        self._segments = segments
        self._shift = shift

    def renew(self) -> None:
        """Renew what is at work, if the loop is late with it. Raises nothing."""
        if time.monotonic() - self._segments.beaten_at < self._shift.lease_seconds / 2:
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
            log.warning("lease not renewed", problem=str(error))
