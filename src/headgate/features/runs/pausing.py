"""Pauses and continues runs, for every entry point."""

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.runs import audited, service
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunNotFound, RunOver
from headgate.features.runs.permitted import require_of_run
from headgate.features.runs.schemas import PauseOut
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.waiting import Paused


async def pause_run(engine: ExecutionBackend, principal: Principal, run_id: str) -> PauseOut:
    """Pause a run and the runs that its steps started: running steps finish, no other starts.

    Has no effect on a paused run. Raises `RunNotFound`, `PermissionMissing`, `RunOver`.
    """
    key = await _permitted(engine, principal, run_id)
    outcome = await engine.pause(key, await audited.change_of(engine, principal, key, "run.paused"))
    return _answer(run_id, outcome)


async def continue_run(engine: ExecutionBackend, principal: Principal, run_id: str) -> PauseOut:
    """Continue a paused run and the paused runs that its steps started.

    Has no effect on a run that is not paused. Raises `RunNotFound`, `PermissionMissing`, `RunOver`.
    """
    key = await _permitted(engine, principal, run_id)
    outcome = await engine.unpause(key, await audited.change_of(engine, principal, key, "run.continued"))
    return _answer(run_id, outcome)


async def _permitted(engine: ExecutionBackend, principal: Principal, run_id: str) -> RunKey:
    run = await service.read_run(engine, principal, run_id)
    await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_START)
    return RunKey(run.id, run.tenant_id, run.flow_id, run.version)


def _answer(run_id: str, outcome: Paused | None) -> PauseOut:
    if outcome is None:
        raise RunNotFound(run_id)
    if not outcome.changed and outcome.status.over:
        raise RunOver(run_id, outcome.status)
    return PauseOut(id=run_id, status=outcome.status.value, changed=outcome.changed, runs=len(outcome.runs))
