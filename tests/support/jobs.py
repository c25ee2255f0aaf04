"""The jobs of a process, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from headgate.features.jobs.leases import Leases
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.foundation.database import Database

LEASE_SECONDS = 30.0


@asynccontextmanager
async def open_jobs(
    database: Database, data_dir: Path, *, scans: bool = False, lease_seconds: float = LEASE_SECONDS
) -> AsyncIterator[JobRunner]:
    """The jobs of a process that looks for what is due often, where it `scans`; closed at the end."""
    leases = Leases(Worker(data_dir / "workers"), lease_seconds)
    runner = JobRunner(database, leases, scans=scans, poll_seconds=0.02)
    runner.open()
    try:
        yield runner
    finally:
        await runner.close(grace_seconds=0)
