"""Starting, watching and cancelling runs, for every entry point."""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows.live import announce_run_started
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs import repository
from headgate.features.runs.errors import RunNotFound, StepNotFound
from headgate.features.runs.permitted import find_run, require_of_run
from headgate.features.runs.schemas import CancelOut, RunOut, RunStart, RunSummary, StepOut
from headgate.features.runs.views import runs as views
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.lazy import lazy_module
from headgate.graph.ports import PortType

if TYPE_CHECKING:
    from headgate import sdk
    from headgate.features.accounts import addresses
    from headgate.features.flows import versions
    from headgate.features.runs import audited, form, parts, start_check, transitions
    from headgate.features.runs.deliveries import service as deliveries
    from headgate.features.runs.engine import backend
    from headgate.features.runs.engine.backend import ExecutionBackend
    from headgate.features.runs.quotas.bounds import Bound
    from headgate.features.runs.steps import planned as plans
    from headgate.features.runs.steps.planned import PlannedFlow
    from headgate.features.runs.transitions import ReadRun, RunKey
    from headgate.sdk import Message, coerce
    from headgate.sdk import outside as sdk_outside
else:
    addresses = lazy_module("headgate.features.accounts.addresses")
    sdk = lazy_module("headgate.sdk")
    sdk_outside = lazy_module("headgate.sdk.outside")
    coerce = lazy_module("headgate.sdk.coerce")
    versions = lazy_module("headgate.features.flows.versions")
    audited = lazy_module("headgate.features.runs.audited")
    form = lazy_module("headgate.features.runs.form")
    parts = lazy_module("headgate.features.runs.parts")
    start_check = lazy_module("headgate.features.runs.start_check")
    transitions = lazy_module("headgate.features.runs.transitions")
    deliveries = lazy_module("headgate.features.runs.deliveries.service")
    backend = lazy_module("headgate.features.runs.engine.backend")
    plans = lazy_module("headgate.features.runs.steps.planned")

LONGEST_WAIT_SECONDS = 300.0
"""How long a request may wait for its run; after that the answer is the run as it is then."""

LOOKED_THROUGH = 20_000
"""Runs that one page of a search looks through: a fifth of a second."""


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that is checked and not begun."""

    request: "backend.RunRequest"
    unshared: tuple[str, ...] = ()
    """Ids of the caller's uploads that the run's space will see once it takes them."""


async def start_run(
    database: Database,
    engine: "ExecutionBackend",
    principal: Principal,
    flow_id: str,
    wanted: RunStart,
    *,
    history: Sequence["Message"] = (),
    once: StartKey | None = None,
    outside: Sequence[str] = (),
) -> "RunKey":
    """Pin a version, check the input, write the run down and begin it.

    Args:
        database: Where the version is.
        engine: Who carries the run out.
        principal: Who starts it.
        flow_id: The flow.
        wanted: What it is started with.
        history: A chat before it that no runs hold; it is kept with the run.
        once: The idempotency key of the request.
        outside: Marks of the input: a model chose it after it read content from outside.

    Raises what `prepare_run` raises, or `Unavailable`; then there is no run.
    """
    require_capacity(engine)
    prepared = await prepare_run(database, engine, principal, flow_id, wanted)
    if history or outside:
        given = prepared.request.input
        marks = sdk_outside.merged(given.outside, outside)
        given = replace(given, history=tuple(history), outside=marks)
        prepared = replace(prepared, request=replace(prepared.request, input=given))
    await begin_run(engine, principal, prepared, once=once)
    return prepared.request.key


def require_capacity(engine: "ExecutionBackend") -> None:
    """Raise `CapacityShort` while starts are paused. Asks no database: also where its connections are in use."""
    if engine.services.capacity is not None:
        engine.services.capacity.require(engine.store.write_wait_seconds)


async def begin_run(
    engine: "ExecutionBackend", principal: Principal, prepared: PreparedRun, *, once: StartKey | None = None
) -> None:
    """Show the uploads it takes to its space, write the run down and begin it.

    Raises `Unavailable`, `SourceGone`, `KeyTaken`, `QuotaExceeded`; then there is no run.
    """
    require_capacity(engine)
    if prepared.unshared:
        await engine.services.files.take(principal, prepared.request.key.flow_id, prepared.unshared)
    entry = await audited.start_of(engine, principal, prepared.request)
    key, visitor = prepared.request.key, visitor_of(principal)
    quotas = engine.services.quotas
    bounds: tuple[Bound, ...] = ()
    if quotas is not None:
        space_id = await engine.services.spaces.of(key.tenant_id, key.flow_id)
        bounds = await quotas.of_start(key.tenant_id, space_id, visitor)
    await engine.start(replace(prepared.request, entry=entry, once=once, visitor=visitor, bounds=bounds))
    announce_run_started(engine.services.bus, principal, flow_id=key.flow_id, run_id=key.run_id, version=key.version)


def visitor_of(principal: Principal) -> str | None:
    """The digest of a visitor's network address; None for everybody who has an account."""
    address = principal.actor.address
    if principal.user_id or address is None:
        return None
    return hashlib.sha256(addresses.counted(address).encode()).hexdigest()[:32]


async def prepare_run(
    database: Database, engine: "ExecutionBackend", principal: Principal, flow_id: str, wanted: RunStart
) -> PreparedRun:
    """Pin a version, which the caller may run, and check the input of a run that is to be started.

    It takes the database and not a session: the version must be committed before the engine, on connections of its own,
    can refer to it. Raises `FlowNotFound`, `PermissionMissing`, `VersionNotFound`, `FlowInvalid`, `InputInvalid`,
    `DocumentsNotInstalled`, or `NotFound` for a file that the caller does not see.
    """
    services = engine.services
    wants_part = parts.asks_for_part(wanted)
    # What only the rest of the flow needs from outside does not keep a part of it from running.
    rules = None if wants_part else services.rules
    pinned = await versions.pin_version(
        database, principal, services.components, flow_id, wanted=wanted.version, rules=rules
    )
    key = transitions.RunKey(new_id(), pinned.tenant_id, pinned.flow_id, pinned.version)
    planned = await engine.plans.of(key)
    plans.refuse_unoffered(planned)
    answers = form.check_form(planned.form, wanted.form_data)
    wanted_files = list(dict.fromkeys([*wanted.file_ids, *form.file_ids_in(planned.form, answers)]))
    part = await parts.part_of(services, principal, key, planned, wanted) if wants_part else None
    wanted_files += (
        [file_id for file_id in parts.pinned_files(planned, wanted) if file_id not in wanted_files]
        if wants_part
        else []
    )
    await start_check.require_ready(services, key, planned, part)
    uploads = await services.files.given(principal, wanted_files) if wanted_files else None
    form.check_files(planned.form, answers, uploads.files if uploads else ())
    visitor = (sdk_outside.mark("visitor"),) if principal.is_visitor else ()
    run_input = sdk.RunInput(
        text=wanted.text, form_data=answers, files=uploads.files if uploads else (), outside=visitor
    )
    start_check.require_files(planned, run_input, part)
    request = backend.RunRequest(
        key=key, input=run_input, user_id=principal.user_id or None, session_id=wanted.session_id, part=part
    )
    return PreparedRun(request, uploads.unshared if uploads else ())


async def key_of(engine: "ExecutionBackend", principal: Principal, run_id: str) -> "RunKey":
    """The key of a run of the caller's tenant; checks no permission. Raises `RunNotFound`."""
    run = await _read(engine, principal, run_id)
    return transitions.RunKey(run.id, run.tenant_id, run.flow_id, run.version)


async def wait_for_run(engine: "ExecutionBackend", run_id: str, *, seconds: float = LONGEST_WAIT_SECONDS) -> None:
    """Return when the run is over, or after so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await engine.wait(run_id)


async def get_run(engine: "ExecutionBackend", principal: Principal, run_id: str) -> RunOut:
    """A run with its steps and its result. Raises `RunNotFound`, `PermissionMissing`."""
    run = await _read(engine, principal, run_id)
    await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_VIEW)
    return views.run_view(run, run.steps, await plan_of(engine, run))


async def answer_of(engine: "ExecutionBackend", principal: Principal, run_id: str) -> RunOut:
    """What a run has come to, for whom the caller has just started or resumed it. Raises `RunNotFound`.

    Starting it was the permission for its answer. The store reads it, not a session: this is the other half of starting
    a run and waiting for it.
    """
    run = await _read(engine, principal, run_id)
    return views.run_view(run, run.steps, await plan_of(engine, run))


async def complete_text(engine: "ExecutionBackend", principal: Principal, run: RunOut) -> str:
    """The complete text of a run's result, read from the artifact when the run contains only its beginning.

    Raises `NotFound` when the artifact is gone, `Unavailable`.
    """
    if not run.truncated:
        return run.text or ""
    outputs = (run.output or {})["outputs"].values()
    payload = next(output for output in reversed(outputs) if output["text"] is not None)
    entry = payload["outputs"][payload["main"]]
    content = await engine.services.files.read(principal.tenant_id, entry["file_id"])
    if entry["type"] == PortType.TEXT:
        return content.decode()
    return coerce.text_of(coerce.decode(orjson.loads(content), PortType(entry["type"])))


async def list_runs(
    session: AsyncSession,
    principal: Principal,
    *,
    flow_id: str | None = None,
    status: str | None = None,
    deliveries: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[RunSummary]:
    """Runs of the caller's spaces, newest first."""
    runs, _ = await page_of_runs(
        session, principal, flow_id=flow_id, status=status, deliveries=deliveries, limit=limit, before=before
    )
    return runs


async def page_of_runs(
    session: AsyncSession,
    principal: Principal,
    *,
    flow_id: str | None = None,
    status: str | None = None,
    session_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    search: str | None = None,
    deliveries: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> tuple[Sequence[RunSummary], str | None]:
    """A page of the same, and the cursor of the next.

    Words are looked for in the newest `LOOKED_THROUGH` of a page: it may hold fewer than asked for, or none, and the
    next goes on behind them.
    """
    which = repository.RunFilter(flow_id, status, session_id, _microseconds(since), _microseconds(until), deliveries)
    seen: dict[str, Any] = {"tenant_id": principal.tenant_id, "spaces": principal.visible_spaces, "which": which}
    behind: str | None = None
    if search:
        rows, behind = await repository.search_runs(
            session, words=search, among=LOOKED_THROUGH, limit=limit + 1, before=before, **seen
        )
    else:
        rows = await repository.list_runs(session, limit=limit + 1, before=before, **seen)
    runs = [views.run_summary(row) for row in rows[:limit]]
    return runs, runs[-1].id if len(rows) > limit else behind


def _microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1_000_000)


async def get_step(
    session: AsyncSession, engine: "ExecutionBackend", principal: Principal, run_id: str, step_id: str
) -> StepOut:
    """One step of a run with everything it left. Raises `RunNotFound`, `PermissionMissing`, `StepNotFound`."""
    row = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    steps = await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
    found = next((step for step in steps if step.step_id == step_id), None)
    if found is None:
        raise StepNotFound(run_id, step_id)
    attempts = await repository.list_attempts(session, run_id, tenant_id=principal.tenant_id, step_id=step_id)
    classes = engine.services.classes
    labels = views.labels_of(await plan_of(engine, row))
    scheme = classes.scheme if classes is not None else None
    shown = views.step_view(found, labels, attempts, scheme, pinned=step_id in views.pinned_of(row))
    delivered = await deliveries.list_deliveries(session, principal, run_id, step_id=step_id)
    return shown.model_copy(update={"delivery": delivered[0]}) if delivered else shown


async def cancel_run(engine: "ExecutionBackend", principal: Principal, run_id: str) -> CancelOut:
    """End a run; of one that is over nothing changes. Raises `RunNotFound`, `PermissionMissing`."""
    run = await _read(engine, principal, run_id)
    await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_START)
    entry = await audited.change_of(
        engine, principal, transitions.RunKey(run_id, run.tenant_id, run.flow_id, run.version), "run.cancelled"
    )
    found = await engine.cancel(run_id, principal.tenant_id, entry)
    if found is None:
        raise RunNotFound(run_id)
    return CancelOut(id=run_id, status=found.status.value, changed=found.changed)


async def check_run(session: AsyncSession, principal: Principal, run_id: str) -> None:
    """Raise `RunNotFound` or `PermissionMissing` unless the caller may look at the run."""
    await find_run(session, principal, run_id, Permission.RUNS_VIEW)


async def plan_of(engine: "ExecutionBackend", row: "repository.AnyRow | ReadRun") -> "PlannedFlow | None":
    """The plan of a run's version; None when its components no longer fit together."""
    try:
        return await engine.plans.of(transitions.RunKey(row.id, row.tenant_id, row.flow_id, row.version))
    except HeadgateError:
        return None


async def _read(engine: "ExecutionBackend", principal: Principal, run_id: str) -> "ReadRun":
    found = await engine.store.read(run_id, principal.tenant_id) if is_id(run_id) else None
    if found is None:
        raise RunNotFound(run_id)
    return found
