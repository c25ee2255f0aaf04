"""HTTP routes of retention and the other maintenance jobs."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import BaseModel

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.audit.recorder import record
from headgate.features.encryption.schemas import EncryptionOut
from headgate.features.encryption.service import encryption_of
from headgate.features.maintenance.backups import backup_state
from headgate.features.maintenance.service import Maintenance
from headgate.foundation.api import ReadSession, Routes, get_database, part
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.foundation.shaped import shaped

router = Routes(prefix="/maintenance", tags=["maintenance"])
_RUN = [needs(Permission.MAINTENANCE_RUN)]


Jobs = Annotated[Maintenance, part("maintenance")]


class JobOut(BaseModel):
    """A maintenance job and its last execution, scheduled or manual. Counts are those of the caller's organisation."""

    name: str
    summary: str
    due_at: str | None
    started_at: str | None
    finished_at: str | None
    deleted: dict[str, int]
    """Number of deleted `runs`, `sessions` and `artifacts`."""
    error: str | None = None


class JobRun(BaseModel):
    """The result of a manual execution."""

    name: str
    dry_run: bool
    deleted: dict[str, int]
    """Number of `runs`, `sessions` and `artifacts` deleted; with `dry_run`, those that would be."""


class BackupOut(BaseModel):
    """Backups of the installation."""

    last_at: datetime | None
    """When the newest backup was made; null: never."""
    every_hours: float | None
    """Hours between scheduled backups; null: none are scheduled."""
    overdue: bool
    """Whether backups are scheduled, and none was made for twice the interval."""


class MaintenanceOut(BaseModel):
    """The retention policy and the jobs that apply it."""

    run_days: int | None
    """Days that runs are kept unless their flow has its own setting; null: without limit."""
    session_days: int | None
    """Days that ended sessions of the development agent are kept; null: without limit."""
    waiting_session_days: int | None
    """Days that sessions waiting for an answer are kept; null: without limit."""
    jobs: list[JobOut]
    encryption: EncryptionOut
    backup: BackupOut


@router.get("", "Read the maintenance status", _RUN, problems=(403,))
async def read(jobs: Jobs, caller: Caller, session: ReadSession, request: Request) -> MaintenanceOut:
    """The retention policy, the next and last execution of each job, encryption of content, and the last backup."""
    settings: Settings = request.app.state.settings
    encryption = await encryption_of(session, caller, always=settings.storage.encrypt)
    states = [
        shaped(
            JobOut,
            state,
            deleted=_counts_of(state.outcome or {}, caller.tenant_id),
            error=(state.outcome or {}).get("message"),
        )
        for state in await jobs.status()
    ]
    retention = jobs.retention
    return MaintenanceOut(
        run_days=retention.run_days,
        session_days=retention.session_days,
        waiting_session_days=retention.waiting_session_days,
        jobs=states,
        encryption=EncryptionOut.of(encryption),
        backup=BackupOut(**asdict(await backup_state(session, settings))),
    )


@router.post("/{job}/run", "Run a maintenance job", _RUN, problems=(403, 404, 409))
async def run(
    job: Annotated[str, Path(max_length=64)],
    jobs: Jobs,
    caller: Caller,
    database: Annotated[Database, Depends(get_database)],
    *,
    dry_run: Annotated[bool, Query(description="Count without deleting.")] = False,
) -> JobRun:
    """Run a job now. It applies the retention policies of the installation and of each flow.

    While the job runs, here or in another process, the response is 409 `job_busy`.
    """
    outcome = await jobs.run_job(job, dry=dry_run)
    if not dry_run:
        async with database.writing() as session:
            await record(session, caller, "maintenance.run", id=job, name=job)
    return JobRun(name=job, dry_run=dry_run, deleted=_counts_of(outcome.as_json(), caller.tenant_id))


def _counts_of(outcome: dict[str, Any], tenant_id: str) -> dict[str, int]:
    """Return the counts of one organisation."""
    nothing = {"runs": 0, "sessions": 0, "artifacts": 0}
    counts: dict[str, int] = outcome.get("tenants", {}).get(tenant_id, {})
    return nothing | counts
