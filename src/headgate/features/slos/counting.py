"""Stores how many runs ended in each part of five minutes, as one kind of job: each objective is a job.

A part is counted five minutes after its end: by then every server has stored the runs that ended in it. A run that is
resumed after that counts once more when it ends again.
"""

from typing import Any

from headgate.features.jobs.leases import clock
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.slos import repository
from headgate.features.slos.figures import PART, SECOND
from headgate.features.slos.tables import SloRow
from headgate.foundation.database import Database

KIND = "slos"
_TABLE: Any = SloRow.__table__
QUEUE = Queue(_TABLE)
MOST_AT_ONCE = 2
KEPT = 31 * 86_400 * SECOND
"""How long counts are kept, in microseconds: longer than any window."""


class SloCounter:
    """Counts runs of objectives.

    Args:
        database: Holds objectives and runs.
        jobs: Runs due counts.
    """

    def __init__(self, database: Database, jobs: JobRunner) -> None:
        self._database = database
        jobs.register(JobKind(KIND, QUEUE, self.count, MOST_AT_ONCE, retry_seconds=30.0))

    async def count(self, job: Job) -> None:
        """Count what ended since the last count, in one transaction with the time until which it is counted."""
        at, tenant_id = clock(), job.row.tenant_id
        start, end = job.row.counted_until, max(at - at % PART - PART, job.row.counted_until)
        async with self._database.reading() as session:
            query = repository.ended_runs(job.id, start, end, tenant_id=tenant_id)
            rows = (await session.execute(query)).all()
        async with self._database.writing() as session:
            if not await QUEUE.release(session, job, due_at=at + PART, counted_until=end):
                return  # another process counts it
            await repository.add_counts(session, job.id, rows, tenant_id=tenant_id)
            await repository.delete_counts(session, job.id, at - KEPT, tenant_id=tenant_id)
