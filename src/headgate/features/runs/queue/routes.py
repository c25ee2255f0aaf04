"""HTTP routes of the queue."""

from typing import Annotated

from fastapi import APIRouter

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.queue import service
from headgate.features.runs.queue.schemas import PriorityIn, PriorityOut, QueueOut
from headgate.features.runs.quotas.service import Quotas
from headgate.foundation.api import ReadSession, WriteSession, part, problems

router = APIRouter(tags=["runs"])


@router.get("/queue", summary="Read the queue", responses=problems(), dependencies=[needs(Permission.RUNS_VIEW)])
async def read(
    session: ReadSession,
    caller: Caller,
    engine: Annotated[ExecutionBackend, part("engine")],
    quotas: Annotated[Quotas, part("quotas")],
) -> QueueOut:
    """Return which runs of your spaces wait, why, since when and at which place, which run, and the limits in use.

    Runs that wait for a time, an event or an approval are not in it. Admins of the installation also see counts of
    every organisation, without names of their flows.
    """
    return await service.read_queue(session, caller, backend=engine.services.engine.backend, quotas=quotas)


@router.put(
    "/flow-runs/{run_id}/priority",
    summary="Change the priority of a run",
    responses=problems(404, 409),
    dependencies=[needs(Permission.RUNS_START)],
)
async def prioritize(run_id: str, body: PriorityIn, session: WriteSession, caller: Caller) -> PriorityOut:
    """Change its place, and that of the runs of its steps, among those that wait for a slot of a limit or a worker.

    For a worker it is the order of the runs of one user in a space; users, spaces and organisations take turns there.
    """
    return await service.set_priority(session, caller, run_id, body.priority)
