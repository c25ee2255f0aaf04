"""Starts, reads and cancels runs, for every entry point."""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from headgate.features.runs.run_filter import EVERY_RUN, RunFilter
from headgate.features.runs.schemas import (
    CancelOut,
    RunOut,
    RunParentOut,
    RunRelationsOut,
    RunStart,
    RunSummary,
    StepOut,
)
from headgate.features.runs.terms import Stops
from headgate.features.runs.views import runs as views
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.lazy import lazy_module
from headgate.graph.ports import PortType

if TYPE_CHECKING:
    from headgate import sdk
    from headgate.features.accounts import addresses
    from headgate.features.flows import versions
    from headgate.features.runs import audited, form, parts, run_details, start_check, transitions
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
    run_details = lazy_module("headgate.features.runs.run_details")
    audited = lazy_module("headgate.features.runs.audited")
    form = lazy_module("headgate.features.runs.form")
    parts = lazy_module("headgate.features.runs.parts")
    start_check = lazy_module("headgate.features.runs.start_check")
    transitions = lazy_module("headgate.features.runs.transitions")
    deliveries = lazy_module("headgate.features.runs.deliveries.service")
    backend = lazy_module("headgate.features.runs.engine.backend")
    plans = lazy_module("headgate.features.runs.steps.planned")

LONGEST_WAIT_SECONDS = 300.0
"""How long a request may wait for its run; then the response is the run as it is."""

LOOKED_THROUGH = 20_000
"""Runs that one page of a search covers: takes a fifth of a second."""


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A validated run that has not been started."""

    request: "backend.RunRequest"
    unshared: tuple[str, ...] = ()
    """Ids of the caller's uploads that become visible to the run's space when the run takes them."""


async def start_run(
    database: Database,
    engine: "ExecutionBackend",
    principal: Principal,
    flow_id: str,
    start: RunStart,
    *,
    history: Sequence["Message"] = (),
    once: StartKey | None = None,
    outside: Sequence[str] = (),
    is_test: bool = False,
) -> "RunKey":
    """Pin a version, validate the input, store the run and start it.

    Args:
        database: Holds the version.
        engine: Executes the run.
        principal: The caller, who owns the run.
        flow_id: The flow.
        start: The input and options of the start.
        history: Earlier messages that are not stored as runs; stored with this run.
        once: The idempotency key of the request.
        outside: Marks of untrusted input: a model chose it after reading content from outside.
        is_test: Whether it is the run of a test case.

    Raises what `prepare_run` raises, or `Unavailable`; then no run is stored.
    """
    require_capacity(engine)
    prepared = await prepare_run(database, engine, principal, flow_id, start)
    prepared = replace(prepared, request=replace(prepared.request, is_test=is_test))
    if history or outside:
        run_input = prepared.request.input
        marks = sdk_outside.merged(run_input.outside, outside)
        run_input = replace(run_input, history=tuple(history), outside=marks)
        prepared = replace(prepared, request=replace(prepared.request, input=run_input))
    await begin_run(engine, principal, prepared, once=once)
    return prepared.request.key


def require_capacity(engine: "ExecutionBackend") -> None:
    """Raise `CapacityShort` while starts are paused. Does not query the database."""
    if engine.services.capacity is not None:
        engine.services.capacity.require(engine.store.write_wait_seconds)


async def begin_run(
    engine: "ExecutionBackend", principal: Principal, prepared: PreparedRun, *, once: StartKey | None = None
) -> None:
    """Share the taken uploads with the run's space, store the run and start it.

    Raises `Unavailable`, `SourceGone`, `KeyTaken`, `QuotaExceeded`; then no run is stored.
    """
    require_capacity(engine)
    if prepared.unshared:
        await engine.services.files.take(principal, prepared.request.key.flow_id, prepared.unshared)
    entry = await audited.start_of(engine, principal, prepared.request)
    key, visitor = prepared.request.key, prepared.request.visitor or visitor_of(principal)
    bounds: tuple[Bound, ...] = ()
    if (quotas := engine.services.quotas) is not None:
        space_id = await engine.services.spaces.of(key.tenant_id, key.flow_id)
        bounds = await quotas.of_start(key.tenant_id, space_id, visitor)
    await engine.start(replace(prepared.request, entry=entry, once=once, visitor=visitor, bounds=bounds))
    announce_run_started(engine.services.bus, principal, flow_id=key.flow_id, run_id=key.run_id, version=key.version)


def visitor_of(principal: Principal) -> str | None:
    """Return the digest of a visitor's network address; None for users with an account."""
    return None if principal.user_id else digest_of(principal.actor.address)


def digest_of(address: str | None) -> str | None:
    """Return the digest of a network address, under which limits of a visitor are counted; None without one."""
    if address is None:
        return None
    return hashlib.sha256(addresses.counted(address).encode()).hexdigest()[:32]


async def prepare_run(
    database: Database, engine: "ExecutionBackend", principal: Principal, flow_id: str, start: RunStart
) -> PreparedRun:
    """Pin a version that the caller may run, and validate the input of a new run.

    Takes the database instead of a session: the version must be committed before the engine, on its own connections,
    can refer to it. Raises `FlowNotFound`, `PermissionMissing`, `VersionNotFound`, `FlowInvalid`, `InputInvalid`,
    `DocumentsNotInstalled`, or `NotFound` for an inaccessible file.
    """
    services = engine.services
    wants_part = parts.asks_for_part(start)
    # Missing requirements of other steps do not prevent a partial run.
    rules = None if wants_part else services.rules
    pinned = await versions.pin_version(
        database, principal, services.components, flow_id, wanted=start.version, rules=rules
    )
    key = transitions.RunKey(new_id(), pinned.tenant_id, pinned.flow_id, pinned.version)
    planned = await engine.plans.of(key)
    plans.refuse_unoffered(planned)
    answers = form.check_form(planned.form, start.form_data)
    wanted_files = list(dict.fromkeys([*start.file_ids, *form.file_ids_in(planned.form, answers)]))
    part = await parts.part_of(services, principal, key, planned, start) if wants_part else None
    wanted_files += (
        [file_id for file_id in parts.pinned_files(planned, start) if file_id not in wanted_files] if wants_part else []
    )
    await start_check.require_ready(services, key, planned, part)
    uploads = await services.files.given(principal, wanted_files) if wanted_files else None
    form.check_files(planned.form, answers, uploads.files if uploads else ())
    visitor = (sdk_outside.mark("visitor"),) if principal.is_visitor else ()
    run_input = sdk.RunInput(
        text=start.text, form_data=answers, files=uploads.files if uploads else (), outside=visitor
    )
    start_check.require_files(planned, run_input, part)
    request = backend.RunRequest(
        key=key,
        input=run_input,
        user_id=principal.user_id or None,
        session_id=start.session_id,
        part=part,
        deadline_seconds=start.deadline_seconds,
        budget=start.budget,
        priority=start.priority,
        stops=_stops(planned, start),
    )
    return PreparedRun(request, uploads.unshared if uploads else ())


def _stops(planned: "PlannedFlow", start: RunStart) -> Stops | None:
    """Return where a run stops before steps; None for nowhere. Raises `InputInvalid`."""
    for name in start.stop_before:
        parts.require_step(planned, name)
    if not (start.stop_before or start.step_through):
        return None
    return Stops(tuple(dict.fromkeys(start.stop_before)), "next" if start.step_through else "breakpoints")


async def key_of(engine: "ExecutionBackend", principal: Principal, run_id: str) -> "RunKey":
    """Return the key of a run of the caller's tenant, without a permission check. Raises `RunNotFound`."""
    run = await read_run(engine, principal, run_id)
    return transitions.RunKey(run.id, run.tenant_id, run.flow_id, run.version)


async def wait_for_run(engine: "ExecutionBackend", run_id: str, *, seconds: float = LONGEST_WAIT_SECONDS) -> None:
    """Wait until the run is over, at most this many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await engine.wait(run_id)


async def get_run(engine: "ExecutionBackend", principal: Principal, run_id: str) -> RunOut:
    """Return a run with its steps and its result. Raises `RunNotFound`, `PermissionMissing`."""
    run = await read_run(engine, principal, run_id)
    await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_VIEW)
    return views.run_view(run, run.steps, await plan_of(engine, run))


async def answer_of(engine: "ExecutionBackend", principal: Principal, run_id: str) -> RunOut:
    """Return a run that the caller has just started or resumed. Raises `RunNotFound`.

    The permission to start it includes its result. The store reads it, without a session: this completes a request that
    starts a run and waits for it.
    """
    run = await read_run(engine, principal, run_id)
    return views.run_view(run, run.steps, await plan_of(engine, run))


async def complete_text(engine: "ExecutionBackend", principal: Principal, run: RunOut) -> str:
    """Return the complete text of a run's result, from its artifact when the run contains only the beginning.

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
    parent_run_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[RunSummary]:
    """List runs of the caller's spaces, newest first."""
    run_filter = RunFilter(flow_id, status, deliveries=deliveries, parent_run_id=parent_run_id)
    runs, _ = await page_of_runs(session, principal, run_filter, limit=limit, before=before)
    return runs


async def page_of_runs(
    session: AsyncSession,
    principal: Principal,
    run_filter: RunFilter = EVERY_RUN,
    *,
    search: str | None = None,
    details: bool = False,
    limit: int = 50,
    before: str | None = None,
) -> tuple[Sequence[RunSummary], str | None]:
    """Return a page of runs of the caller's spaces, newest first, and the cursor of the next page.

    A search covers the newest `LOOKED_THROUGH` runs of a page: the page may contain fewer than requested, or none, and
    the next page continues after them. Raises `Invalid` for a parent step without its run.
    """
    if run_filter.parent_step_id is not None and run_filter.parent_run_id is None:
        raise Invalid("A step is not enough to find its runs.", remedy="Give parent_run_id, too.")
    parameters: dict[str, Any] = {
        "tenant_id": principal.tenant_id,
        "spaces": principal.visible_spaces,
        "run_filter": run_filter,
    }
    behind: str | None = None
    if search:
        rows, behind = await repository.search_runs(
            session, words=search, among=LOOKED_THROUGH, limit=limit + 1, before=before, **parameters
        )
    else:
        rows = await repository.list_runs(session, limit=limit + 1, before=before, **parameters)
    page = rows[:limit]
    runs = [views.run_summary(row) for row in page]
    if details:
        await run_details.add_details(session, runs, page, tenant_id=principal.tenant_id)
    return runs, runs[-1].id if len(rows) > limit else behind


async def get_step(
    session: AsyncSession, engine: "ExecutionBackend", principal: Principal, run_id: str, step_id: str
) -> StepOut:
    """Return one step of a run with all its data. Raises `RunNotFound`, `PermissionMissing`, `StepNotFound`."""
    row = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    steps = await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
    step_row = next((step for step in steps if step.step_id == step_id), None)
    if step_row is None:
        raise StepNotFound(run_id, step_id)
    attempts = await repository.list_attempts(session, run_id, tenant_id=principal.tenant_id, step_id=step_id)
    classes = engine.services.classes
    planned = await plan_of(engine, row)
    labels, limits = views.labels_of(planned), views.attempts_allowed(planned)
    scheme = classes.scheme if classes is not None else None
    pinned, allowed = step_id in views.pinned_of(row), limits.get(step_id, 1)
    view = views.step_view(step_row, labels, attempts, scheme, pinned=pinned, max_attempts=allowed)
    delivered = await deliveries.list_deliveries(session, principal, run_id, step_id=step_id)
    return view.model_copy(update={"delivery": delivered[0]}) if delivered else view


async def get_relations(session: AsyncSession, principal: Principal, run_id: str) -> RunRelationsOut:
    """Return the run above a run, and the number of runs that its steps started.

    Raises `RunNotFound`, `PermissionMissing`.
    """
    row = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    parent: RunParentOut | None = None
    if row.parent_run_id is not None:
        above = await repository.find_run(session, row.parent_run_id, tenant_id=principal.tenant_id)
        if above is not None and principal.may(Permission.RUNS_VIEW, above.space_id):
            parent = RunParentOut(
                run_id=above.id, flow_id=above.flow_id, step_id=row.parent_step_id, iteration=row.parent_iteration
            )
    rows = await repository.count_started_runs(session, run_id, tenant_id=principal.tenant_id)
    expected = await repository.list_expected_runs(session, run_id, tenant_id=principal.tenant_id)
    return RunRelationsOut(
        parent=parent, steps=views.started_runs(rows, {row.step_id: row.expected_runs for row in expected})
    )


async def cancel_run(engine: "ExecutionBackend", principal: Principal, run_id: str) -> CancelOut:
    """Cancel a run; has no effect on one that is over. Raises `RunNotFound`, `PermissionMissing`."""
    run = await read_run(engine, principal, run_id)
    await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_START)
    entry = await audited.change_of(
        engine, principal, transitions.RunKey(run_id, run.tenant_id, run.flow_id, run.version), "run.cancelled"
    )
    cancelled = await engine.cancel(run_id, principal.tenant_id, entry)
    if cancelled is None:
        raise RunNotFound(run_id)
    return CancelOut(id=run_id, status=cancelled.status.value, changed=cancelled.changed)


async def check_run(session: AsyncSession, principal: Principal, run_id: str) -> None:
    """Raise `RunNotFound` or `PermissionMissing` unless the caller may view the run."""
    await find_run(session, principal, run_id, Permission.RUNS_VIEW)


async def plan_of(engine: "ExecutionBackend", row: "repository.AnyRow | ReadRun") -> "PlannedFlow | None":
    """Return the plan of a run's version; None when its components are no longer compatible."""
    try:
        return await engine.plans.of(transitions.RunKey(row.id, row.tenant_id, row.flow_id, row.version))
    except HeadgateError:
        return None


async def read_run(engine: "ExecutionBackend", principal: Principal, run_id: str) -> "ReadRun":
    """Return a run of the caller's tenant, without a permission check. Raises `RunNotFound`."""
    run = await engine.store.read(run_id, principal.tenant_id) if is_id(run_id) else None
    if run is None:
        raise RunNotFound(run_id)
    return run
