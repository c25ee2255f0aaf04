"""Starting, watching and cancelling runs, for every entry point."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.flows import versions
from headgate.features.runs import repository
from headgate.features.runs.deliveries.service import list_deliveries
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.errors import RunNotFound, StepNotFound
from headgate.features.runs.form import check_form, file_ids_in
from headgate.features.runs.schemas import CancelOut, RunOut, RunStart, RunSummary, StepOut
from headgate.features.runs.steps.planned import PlannedFlow, refuse_unoffered
from headgate.features.runs.transitions import ReadRun, RunKey
from headgate.features.runs.views import runs as views
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import is_id, new_id
from headgate.graph.issues import raise_if_any
from headgate.sdk import RunInput

LONGEST_WAIT_SECONDS = 300.0
"""How long a request may wait for its run; after that the answer is the run as it is then."""


async def start_run(
    database: Database, engine: ExecutionBackend, principal: Principal, flow_id: str, wanted: RunStart
) -> RunKey:
    """Pin a version, check the input, write the run down and begin it.

    Raises what `prepare_run` raises, or `Unavailable`; then there is no run.
    """
    request = await prepare_run(database, engine, principal, flow_id, wanted)
    await engine.start(request)
    return request.key


async def prepare_run(
    database: Database, engine: ExecutionBackend, principal: Principal, flow_id: str, wanted: RunStart
) -> RunRequest:
    """Pin a version and check the input of a run that is to be started.

    It takes the database and not a session: the version must be committed before the engine, on connections of its own,
    can refer to it. Raises `FlowNotFound`, `VersionNotFound`, `FlowInvalid`, `InputInvalid`,
    `DocumentsNotInstalled`, or `NotFound` for a file that is not the tenant's.
    """
    services = engine.services
    pinned = await versions.pin_version(database, principal, services.components, flow_id, wanted=wanted.version)
    key = RunKey(new_id(), pinned.tenant_id, pinned.flow_id, pinned.version)
    planned = await engine.plans.of(key)
    refuse_unoffered(planned)
    if services.classes is not None:
        raise_if_any((await services.classes.classify(pinned.tenant_id, planned.flow)).issues)
    answers = check_form(planned.form, wanted.form_data)
    wanted_files = list(dict.fromkeys([*wanted.file_ids, *file_ids_in(planned.form, answers)]))
    files = await services.files.describe(principal.tenant_id, wanted_files) if wanted_files else ()
    given = RunInput(text=wanted.text, form_data=answers, files=files)
    return RunRequest(key=key, input=given, user_id=principal.user_id, session_id=wanted.session_id)


async def wait_for_run(engine: ExecutionBackend, run_id: str, *, seconds: float = LONGEST_WAIT_SECONDS) -> None:
    """Return when the run is over, or after so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await engine.wait(run_id)


async def get_run(engine: ExecutionBackend, principal: Principal, run_id: str) -> RunOut:
    """A run with its steps and its result. Raises `RunNotFound`.

    The store reads it, not a session: this is the other half of starting a run and waiting for it.
    """
    found = await engine.store.read(run_id, principal.tenant_id) if is_id(run_id) else None
    if found is None:
        raise RunNotFound(run_id)
    return views.run_view(found, found.steps, await plan_of(engine, found))


async def list_runs(
    session: AsyncSession,
    principal: Principal,
    *,
    flow_id: str | None = None,
    status: str | None = None,
    session_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[RunSummary]:
    """Runs of the caller's tenant, newest first."""
    rows = await repository.list_runs(
        session,
        tenant_id=principal.tenant_id,
        flow_id=flow_id,
        status=status,
        session_id=session_id,
        limit=limit,
        before=before,
    )
    return [views.run_summary(row) for row in rows]


async def get_step(
    session: AsyncSession, engine: ExecutionBackend, principal: Principal, run_id: str, step_id: str
) -> StepOut:
    """One step of a run with everything it left. Raises `RunNotFound`, `StepNotFound`."""
    row = await _find(session, principal, run_id)
    steps = await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
    found = next((step for step in steps if step.step_id == step_id), None)
    if found is None:
        raise StepNotFound(run_id, step_id)
    attempts = await repository.list_attempts(session, run_id, tenant_id=principal.tenant_id, step_id=step_id)
    classes = engine.services.classes
    labels = views.labels_of(await plan_of(engine, row))
    shown = views.step_view(found, labels, attempts, classes.scheme if classes is not None else None)
    delivered = await list_deliveries(session, principal, run_id, step_id=step_id)
    return shown.model_copy(update={"delivery": delivered[0]}) if delivered else shown


async def cancel_run(engine: ExecutionBackend, principal: Principal, run_id: str) -> CancelOut:
    """End a run; of one that is over nothing changes. Raises `RunNotFound`."""
    found = await engine.cancel(run_id, principal.tenant_id) if is_id(run_id) else None
    if found is None:
        raise RunNotFound(run_id)
    return CancelOut(id=run_id, status=found.status.value, changed=found.changed)


async def check_run(session: AsyncSession, principal: Principal, run_id: str) -> None:
    """Raise `RunNotFound` unless the caller's tenant has the run."""
    await _find(session, principal, run_id)


async def plan_of(engine: ExecutionBackend, row: repository.AnyRow | ReadRun) -> PlannedFlow | None:
    """The plan of a run's version; None when its components no longer fit together."""
    try:
        return await engine.plans.of(RunKey(row.id, row.tenant_id, row.flow_id, row.version))
    except HeadgateError:
        return None


async def _find(session: AsyncSession, principal: Principal, run_id: str) -> repository.AnyRow:
    row = await repository.find_run(session, run_id, tenant_id=principal.tenant_id) if is_id(run_id) else None
    if row is None:
        raise RunNotFound(run_id)
    return row
