"""Resuming failed runs, and rerunning past runs from any step with their results reused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import versions
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.summaries import Wanted
from headgate.features.idempotency.keys import StartKey
from headgate.features.models.setup.prices import prices_of
from headgate.features.models.setup.values import ModelSetup
from headgate.features.runs import repository
from headgate.features.runs.audited import change_of
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.errors import NotResumable, RunNotFound, StepNotFound
from headgate.features.runs.form import file_ids_in
from headgate.features.runs.permitted import find_run
from headgate.features.runs.reruns.costs import Cost, cost_of, total
from headgate.features.runs.reruns.past import PastRun, history_of, input_readers, read_past_run
from headgate.features.runs.reruns.plan import Decision, Why, changed_upstream, decide_steps, everything
from headgate.features.runs.reruns.schemas import CostOut, RerunPlanStart, RunCostOut
from headgate.features.runs.run_input import input_payload
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.service import PreparedRun, begin_run, prepare_run
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.transitions import Reuse, RunKey
from headgate.features.runs.views.runs import pinned_of
from headgate.foundation.database import Database
from headgate.sdk.outside import merged


@dataclass(frozen=True)
class Rerun:
    """The organisation's model settings."""

    past: PastRun
    prepared: PreparedRun
    planned: PlannedFlow
    decisions: tuple[Decision, ...]
    prices: ModelSetup
    """What the organisation says of models."""
    input_changed: bool

    @property
    def request(self) -> RunRequest:
        """Return the request for the new run, owned by the caller."""
        return self.prepared.request


@dataclass(frozen=True)
class Resumption:
    """How a run was resumed."""

    key: RunKey
    how: Literal["in_place", "continued", "restarted"]
    reason: str
    from_step: str | None
    changed_step: str | None = None

    @property
    def details(self) -> dict[str, str | None]:
        """The part of the response that is not in the run."""
        return {"how": self.how, "reason": self.reason, "from_step": self.from_step, "changed_step": self.changed_step}

    def marked(self, once: StartKey | None) -> StartKey | None:
        """Return the request's idempotency key with `details`."""
        return None if once is None else once.answering(self.details)


async def resume_run(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    run_id: str,
    *,
    version: Wanted | None = None,
    once: StartKey | None = None,
) -> Resumption:
    """Resume a failed run at its failed step: in place, or, with another version, as a new run.

    A new run reuses the results when nothing before the failed step has changed; otherwise it starts from the first
    step (seed 002, Resume rules). Raises `RunNotFound`, `RunNotOver`, `NotResumable`, or what `prepare_run` raises.
    """
    past = await read_past_run(database, engine, principal, run_id)
    _require_failed(past)
    catalog = engine.services.components
    pinned = await versions.pin_version(
        database, principal, catalog, past.key.flow_id, wanted=version or past.key.version
    )
    if pinned.version == past.key.version:
        return await _resume_in_place(engine, principal, past, once)
    if past.part is not None:
        raise NotResumable(
            f"Run '{run_id}' executed part of its flow: it can only be resumed with its own version.",
            remedy="Resume it without another version, or run that part again.",
        )
    changes = RerunPlanStart(version=pinned.version)
    prepared = await _prepare(database, engine, principal, past, changes, keeps_session=True)
    resumption = _resumption_of(prepared)
    await _begin(engine, principal, prepared, resumption.marked(once))
    return resumption


async def plan_rerun(
    database: Database, engine: ExecutionBackend, principal: Principal, run_id: str, edits: RerunPlanStart
) -> Rerun:
    """Plan a rerun: what it would reuse and execute. Starts nothing; a requested draft becomes a version.

    Raises `RunNotFound`, `RunNotOver`, `StepNotFound`, or what `prepare_run` raises.
    """
    past = await read_past_run(database, engine, principal, run_id)
    return await _prepare(database, engine, principal, past, edits)


async def rerun(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    run_id: str,
    edits: RerunPlanStart,
    *,
    once: StartKey | None = None,
) -> Rerun:
    """Rerun a past run as `plan_rerun` plans it. Raises what it raises, `SourceGone`, `KeyTaken`, or `Unavailable`."""
    planned = await plan_rerun(database, engine, principal, run_id, edits)
    await _begin(engine, principal, planned, once)
    return planned


async def cost_of_run(session: AsyncSession, principal: Principal, run_id: str) -> RunCostOut:
    """Return the cost of a run so far. Raises `RunNotFound`, `PermissionMissing`."""
    row = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    pinned, setup = pinned_of(row), await prices_of(session, principal.tenant_id)
    costs = {
        step.step_id: cost_of(step, setup)
        for step in await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
        if step.reused_from_run_id is None and step.step_id not in pinned and step.started_at is not None
    }
    return RunCostOut(
        steps={step_id: cost_out(cost) for step_id, cost in costs.items()}, total=cost_out(total([*costs.values()]))
    )


def _require_failed(past: PastRun) -> None:
    again = f"`headgate runs rerun {past.key.run_id}` (POST .../rerun)"
    if past.status is RunStatus.CANCELLED:
        raise NotResumable(
            f"Run '{past.key.run_id}' was cancelled. Cancelled runs cannot be resumed.",
            remedy=f"Start a new run; {again} reuses its results.",
        )
    if past.status is RunStatus.COMPLETED:
        raise NotResumable(
            f"Run '{past.key.run_id}' is already completed.",
            remedy=f"Rerun it, from any step and with other inputs: {again}.",
        )


async def _resume_in_place(
    engine: ExecutionBackend, principal: Principal, past: PastRun, once: StartKey | None
) -> Resumption:
    step = past.first_failed
    resumption = Resumption(past.key, "in_place", f"The run continues at step '{step}'.", step)
    entry = await change_of(engine, principal, past.key, "run.resumed")
    outcome = await engine.resume(past.key, entry, resumption.marked(once))
    if outcome is None:
        raise RunNotFound(past.key.run_id)
    if not outcome.changed:
        if outcome.status is RunStatus.FAILED:
            raise FlowNotFound(past.key.flow_id)
        raise NotResumable(
            f"Run '{past.key.run_id}' is now {outcome.status}.", remedy="Read the run to see its result."
        )
    return resumption


async def _prepare(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    past: PastRun,
    edits: RerunPlanStart,
    *,
    keeps_session: bool = False,
) -> Rerun:
    """Return the new run, validated like any other, and the decision for each of its steps.

    Args:
        database: The database of the versions.
        engine: Executes the run.
        principal: The caller.
        past: The run whose results are reused.
        edits: The changes.
        keeps_session: Whether the new run replaces a failed turn of a chat. A rerun is not part of the chat and does
            not get its history. Only the user of the past run can replace a turn.
    """
    version: Wanted = past.key.version if edits.version is None else edits.version
    start = await _start_of(database, engine, principal, past, edits, version=version)
    in_chat = keeps_session and past.user_id == (principal.user_id or None)
    start = start.model_copy(update={"session_id": past.session_id if in_chat else None})
    prepared = await prepare_run(database, engine, principal, past.key.flow_id, start)
    marks = merged(prepared.request.input.outside, past.input_payload.get("outside", ()))
    request = replace(prepared.request, input=replace(prepared.request.input, outside=marks))
    prepared = replace(prepared, request=request)
    planned = await engine.plans.of(request.key)
    if edits.from_step is not None and edits.from_step not in planned.steps:
        raise StepNotFound(past.key.run_id, edits.from_step)
    changed = await _input_changed(engine, past, request)
    readers = await input_readers(engine, past) if changed else frozenset[str]()
    decisions = decide_steps(past.planned, planned, past.reusable, from_step=edits.from_step, reads_input=readers)
    upstream = _upstream(past, planned) if keeps_session else None
    if upstream is not None:
        decisions = everything(planned, Why.UPSTREAM, upstream)
    elif all(decision.reuse for decision in decisions):
        decisions = everything(planned, Why.EVERYTHING)
    async with database.reading() as session:
        prices = await prices_of(session, principal.tenant_id)
    return Rerun(past, prepared, planned, decisions, prices, input_changed=changed)


async def _start_of(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    past: PastRun,
    edits: RerunPlanStart,
    *,
    version: Wanted,
) -> RunStart:
    """Return the past run's input with the edits. Answers to fields that the form no longer has are omitted."""
    pinned = await versions.pin_version(
        database, principal, engine.services.components, past.key.flow_id, wanted=version
    )
    planned = await engine.plans.of(replace(past.key, version=pinned.version))
    form_ids = {field.id for field in planned.form}
    form_data: dict[str, Any] = past.input_payload.get("form_data", {})
    answers = {name: answer for name, answer in form_data.items() if name in form_ids} | (edits.form_data or {})
    answers = {name: answer for name, answer in answers.items() if answer is not None}
    own_files = set(file_ids_in(past.planned.form, form_data))
    past_files = [file["id"] for file in past.input_payload.get("files", ()) if file["id"] not in own_files]
    return RunStart(
        text=past.input_payload["text"] if edits.text is None else edits.text,
        form_data=answers,
        file_ids=past_files if edits.file_ids is None else edits.file_ids,
        version=pinned.version,
    )


async def _input_changed(engine: ExecutionBackend, past: PastRun, request: RunRequest) -> bool:
    """Whether the input of the new run differs from the past one: text, answers, files or chat history."""
    past_input = {name: value for name, value in past.input_payload.items() if name not in {"trigger", "test"}}
    if orjson.loads(input_payload(request.input)) != past_input:
        return True
    history_before = await history_of(engine, past.key, past.session_id, past.user_id)
    history_after = await history_of(engine, request.key, request.session_id, request.user_id)
    return list(history_before) != list(history_after)


def _upstream(past: PastRun, planned: PlannedFlow) -> str | None:
    failed = past.first_failed
    return None if failed is None else changed_upstream(past.planned, planned, failed)


async def _begin(engine: ExecutionBackend, principal: Principal, rerun: Rerun, once: StartKey | None) -> None:
    reused = tuple(decision.step_id for decision in rerun.decisions if decision.reuse)
    first = first_again(rerun.decisions)
    request = replace(rerun.request, reuse=Reuse(rerun.past.key.run_id, reused, first))
    await begin_run(engine, principal, replace(rerun.prepared, request=request), once=once)


def first_again(decisions: Sequence[Decision]) -> str | None:
    """Return the first step that is executed again."""
    return next((decision.step_id for decision in decisions if not decision.reuse), None)


def _resumption_of(rerun: Rerun) -> Resumption:
    first = rerun.decisions[0] if rerun.decisions else None
    from_step = first_again(rerun.decisions)
    version = rerun.request.key.version
    if first is not None and first.why is Why.UPSTREAM:
        reason = f"A new run of version {version} starts from the beginning: step '{first.because}' has changed."
        return Resumption(rerun.request.key, "restarted", reason, from_step, first.because)
    reason = f"A new run of version {version} reuses the results and continues at step '{from_step}'."
    return Resumption(rerun.request.key, "continued", reason, from_step)


def cost_out(cost: Cost) -> CostOut:
    """Convert a cost for the API."""
    return CostOut(tokens_input=cost.tokens_input, tokens_output=cost.tokens_output, usd=cost.usd, ms=cost.ms)
