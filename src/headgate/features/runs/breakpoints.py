"""Continues runs that stopped at breakpoints."""

from contextlib import suppress

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.runs import service
from headgate.features.runs.bulk import RUN_STATE
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunOver
from headgate.features.runs.permitted import find_run
from headgate.features.runs.schemas import RunState
from headgate.features.runs.states import RunStatus
from headgate.features.runs.terms import StopRule
from headgate.features.runs.transitions import clock
from headgate.features.runs.waking import wake_stopped
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable


class BreakpointContinue(BaseModel):
    """How a run continues that stopped before a step."""

    model_config = ConfigDict(extra="forbid")

    then: StopRule = Field(
        default="breakpoints",
        description="Stop again at the breakpoints of the run, before the `next` step, or not before the `end`.",
    )


class BreakpointContinueOut(BaseModel):
    """Outcome of a request to continue from breakpoints."""

    id: str
    status: RunState
    changed: bool
    """False when the run was stopped at no breakpoint."""
    steps: list[str]
    """Ids of the steps that continue."""


async def continue_stopped(
    database: Database, engine: ExecutionBackend, principal: Principal, run_id: str, then: StopRule
) -> BreakpointContinueOut:
    """Continue a run from the breakpoints at which it stopped, and set where it stops next.

    Has no effect on a run that is stopped at none. Raises `RunNotFound`, `PermissionMissing`, `RunOver`.
    """
    async with database.writing() as session:
        row = await find_run(session, principal, run_id, Permission.RUNS_START)
        if RunStatus(row.status).over:
            raise RunOver(run_id, row.status)
        steps = list(await wake_stopped(session, run_id, then, tenant_id=principal.tenant_id, at=clock()))
        if steps:
            payload = {"flow_id": row.flow_id, "version": row.version, "steps": steps, "then": then}
            await record(
                session, principal, "run.breakpoint_continued", id=run_id, space_id=row.space_id, payload=payload
            )
    if steps and engine.services.engine.recover_on_start:  # a command leaves it to the server
        with suppress(Unavailable):  # the next look for due steps does it
            await engine.wake_run(run_id)
    status = (await service.read_run(engine, principal, run_id)).status
    return BreakpointContinueOut(id=run_id, status=RUN_STATE.validate_python(status), changed=bool(steps), steps=steps)
