"""HTTP routes of the limits of runs and flows."""

from typing import Annotated

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.limits import service
from headgate.features.runs.limits.schemas import FlowLimitsOut, RunLimitsOut
from headgate.foundation.api import ReadSession, Routes, part

router = Routes(tags=["runs"])
_VIEW = [needs(Permission.RUNS_VIEW)]


Engine = Annotated[ExecutionBackend, part("engine")]


@router.get("/flow-runs/{run_id}/limits", "Read the limits of a run", _VIEW, problems=(404,))
async def of_run(run_id: str, caller: Caller, engine: Engine) -> RunLimitsOut:
    """Return the budgets that the run charges, how much of each is used, and the slots that it holds or waits for."""
    return await service.limits_of_run(engine, caller, run_id)


@router.get("/flows/{flow_id}/limits", "Read the limits of a flow", _VIEW, problems=(404,))
async def of_flow(flow_id: str, session: ReadSession, caller: Caller, engine: Engine) -> FlowLimitsOut:
    """Return what all runs of the flow have used today (UTC), how many hold a slot of it and how many wait."""
    return await service.limits_of_flow(session, engine, caller, flow_id)
