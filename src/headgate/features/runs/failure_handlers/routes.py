"""HTTP route of the handlers of failed runs."""

from typing import Annotated

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.failure_handlers.schemas import FailureHandlingOut, HandlerLinkOut
from headgate.features.runs.permitted import require_of_run
from headgate.features.runs.service import read_run
from headgate.foundation.api import Routes, part

router = Routes(tags=["runs"])


@router.get(
    "/flow-runs/{run_id}/error-handler",
    "Read the error handler of a run",
    [needs(Permission.RUNS_VIEW)],
    problems=(404,),
)
async def of_run(
    run_id: str, caller: Caller, engine: Annotated[ExecutionBackend, part("engine")]
) -> FailureHandlingOut:
    """Return the run that was started because this one failed, and the failed run that this one was started for."""
    run = await read_run(engine, caller, run_id)
    await require_of_run(engine.services.spaces, caller, run, Permission.RUNS_VIEW)
    links = [
        await engine.services.failure_handlers.link(run.tenant_id, run_id, handled=handled) for handled in (False, True)
    ]
    handler, handles = [None if link is None else HandlerLinkOut.model_validate(link) for link in links]
    return FailureHandlingOut(handler=handler, handles=handles)
