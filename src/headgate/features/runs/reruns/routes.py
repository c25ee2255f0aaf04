"""HTTP routes of resume and rerun."""

from functools import partial
from typing import Annotated, Any

from fastapi import Depends

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.idempotency.http import Once
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.reruns.schemas import (
    RerunPlanOut,
    RerunPlanStart,
    RerunStart,
    ResumeOut,
    ResumeStart,
    RunCostOut,
)
from headgate.features.runs.reruns.service import cost_of_run, plan_rerun, rerun, resume_run
from headgate.features.runs.reruns.views import rerun_plan
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.service import answer_of, get_run
from headgate.features.runs.views.client_waits import wait_or_end
from headgate.foundation.api import ReadSession, Routes, get_database, part
from headgate.foundation.database import Database

router = Routes(prefix="/flow-runs/{run_id}", tags=["runs"])
_VIEW = [needs(Permission.RUNS_VIEW)]
_START = [needs(Permission.RUNS_START)]
Rows = Annotated[Database, Depends(get_database)]


Engine = Annotated[ExecutionBackend, part("engine")]


@router.get("/cost", "Read the cost of a run", _VIEW, problems=(404,))
async def cost(run_id: str, session: ReadSession, caller: Caller) -> RunCostOut:
    """Return the cost of each step at its models' prices, and the total; reused and pinned results cost nothing."""
    return await cost_of_run(session, caller, run_id)


@router.post("/resume", "Resume a failed run", _START, problems=(404, 409))
async def resume(
    run_id: str, database: Rows, engine: Engine, caller: Caller, once: Once, body: ResumeStart | None = None
) -> ResumeOut:
    """Resume at the failed step; completed steps are not executed again.

    With `version`, a new run of that version continues. It reuses the paid results when nothing before the failed step
    has changed; otherwise it starts from the first step.
    """
    start = body or ResumeStart()
    details: dict[str, Any] = {}

    async def begin(key: StartKey | None) -> str:
        resumption = await resume_run(database, engine, caller, run_id, version=start.version, once=key)
        details.update(resumption.details)
        return resumption.key.run_id

    new_id = await once.begin(begin, may_read=partial(get_run, engine, caller))
    run = await (wait_or_end if start.wait else answer_of)(engine, caller, new_id)
    return ResumeOut(run=run, **(details or once.answer))


@router.post("/rerun-plan", "Plan a rerun", _START, problems=(404, 409))
async def plan(
    run_id: str, database: Rows, engine: Engine, caller: Caller, body: RerunPlanStart | None = None
) -> RerunPlanOut:
    """Dry run of a rerun: which results it would reuse, which steps it would execute, and the cost. Starts nothing."""
    return rerun_plan(await plan_rerun(database, engine, caller, run_id, body or RerunPlanStart()))


@router.post("/rerun", "Rerun a run", _START, status_code=201, problems=(404, 409))
async def again(
    run_id: str, database: Rows, engine: Engine, caller: Caller, once: Once, body: RerunStart | None = None
) -> RunOut:
    """Start a new run with the input of a past one, edited, from any step; results that are still valid are reused."""
    start = body or RerunStart()

    async def begin(key: StartKey | None) -> str:
        return (await rerun(database, engine, caller, run_id, start, once=key)).request.key.run_id

    new_id = await once.begin(begin, may_read=partial(get_run, engine, caller))
    return await (wait_or_end if start.wait else answer_of)(engine, caller, new_id)
