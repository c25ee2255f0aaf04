"""HTTP routes of retention and the other jobs of maintenance."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.audit.recorder import record
from headgate.features.maintenance.service import Maintenance
from headgate.foundation.api import get_database, problems
from headgate.foundation.database import Database

router = APIRouter(prefix="/maintenance", tags=["maintenance"])
_RUN = [needs(Permission.MAINTENANCE_RUN)]


def _maintenance(request: Request) -> Maintenance:
    found: Maintenance = request.app.state.maintenance
    return found


Jobs = Annotated[Maintenance, Depends(_maintenance)]


class JobOut(BaseModel):
    """A job and how it last went, on schedule or on request. Counts are those of the caller's organisation."""

    name: str
    summary: str
    due_at: str | None
    started_at: str | None
    finished_at: str | None
    deleted: dict[str, int]
    """Runs, sessions and artifacts."""
    error: str | None = None


class JobRun(BaseModel):
    """The result of a job that ran on request."""

    name: str
    dry_run: bool
    deleted: dict[str, int]
    """Runs, sessions and artifacts of the caller's organisation; with `dry_run` what would be deleted."""


class MaintenanceOut(BaseModel):
    """The retention policy and the jobs that apply it."""

    run_days: int | None
    """Days that runs are kept where their flow says nothing; null: for good."""
    session_days: int | None
    """Days that sessions of the development agent that are over are kept; null: for good."""
    waiting_session_days: int | None
    """Days that sessions that wait for an answer are kept; null: for good."""
    jobs: list[JobOut]


@router.get("", summary="Read the state of maintenance", responses=problems(403), dependencies=_RUN)
async def read(jobs: Jobs, caller: Caller) -> MaintenanceOut:
    """The retention policy, each job, when it is due and how it last went."""
    found = [
        JobOut(
            name=one.name,
            summary=one.summary,
            due_at=one.due_at,
            started_at=one.started_at,
            finished_at=one.finished_at,
            deleted=_of(one.outcome or {}, caller.tenant_id),
            error=(one.outcome or {}).get("message"),
        )
        for one in await jobs.status()
    ]
    kept = jobs.retention
    return MaintenanceOut(
        run_days=kept.run_days,
        session_days=kept.session_days,
        waiting_session_days=kept.waiting_session_days,
        jobs=found,
    )


@router.post("/{job}/run", summary="Run a job of maintenance", responses=problems(403, 404), dependencies=_RUN)
async def run(
    job: Annotated[str, Path(max_length=64)],
    jobs: Jobs,
    caller: Caller,
    database: Annotated[Database, Depends(get_database)],
    *,
    dry_run: Annotated[bool, Query(description="Only count what would be deleted.")] = False,
) -> JobRun:
    """Run a job now, whenever it is due. It applies the policies of the installation and of each flow."""
    outcome = await jobs.run_job(job, dry=dry_run)
    if not dry_run:
        async with database.writing() as session:
            await record(session, caller, "maintenance.run", id=job, name=job)
    return JobRun(name=job, dry_run=dry_run, deleted=_of(outcome.as_json(), caller.tenant_id))


def _of(outcome: dict[str, Any], tenant_id: str) -> dict[str, int]:
    """The counts of one organisation."""
    nothing = {"runs": 0, "sessions": 0, "artifacts": 0}
    mine: dict[str, int] = outcome.get("tenants", {}).get(tenant_id, {})
    return nothing | mine
