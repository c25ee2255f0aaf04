"""Resuming failed runs, and running past runs again from any step with the paid results kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import versions
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.schemas import Wanted
from headgate.features.idempotency.keys import StartKey
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


@dataclass(frozen=True)
class Rerun:
    """A run that is ready to be started on the results of a past one."""

    past: PastRun
    prepared: PreparedRun
    planned: PlannedFlow
    decisions: tuple[Decision, ...]
    input_changed: bool

    @property
    def request(self) -> RunRequest:
        """The new run, which is the caller's."""
        return self.prepared.request


@dataclass(frozen=True)
class Resumption:
    """Which way a run goes on."""

    key: RunKey
    how: Literal["in_place", "continued", "restarted"]
    reason: str
    from_step: str | None
    changed_step: str | None = None

    @property
    def told(self) -> dict[str, str | None]:
        """What the response says beyond the run."""
        return {"how": self.how, "reason": self.reason, "from_step": self.from_step, "changed_step": self.changed_step}

    def marked(self, once: StartKey | None) -> StartKey | None:
        """The idempotency key of the request, with what the response says beyond the run."""
        return None if once is None else once.answering(self.told)


async def resume_run(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    run_id: str,
    *,
    wanted: Wanted | None = None,
    once: StartKey | None = None,
) -> Resumption:
    """Let a failed run go on from the step that failed: in place, or in a new run where another version is wanted.

    A new run takes over what was paid when nothing before the failed step has changed, and starts anew when something
    has (seed 002, Resume rules). Raises `RunNotFound`, `RunNotOver`, `NotResumable`, or what `prepare_run` raises.
    """
    past = await read_past_run(database, engine, principal, run_id)
    _require_failed(past)
    catalog = engine.services.components
    pinned = await versions.pin_version(
        database, principal, catalog, past.key.flow_id, wanted=wanted or past.key.version
    )
    if pinned.version == past.key.version:
        return await _resume_in_place(engine, principal, past, once)
    if past.part is not None:
        raise NotResumable(
            f"Run '{run_id}' carried out a part of its flow: it goes on with its own version only.",
            remedy="Resume it without another version, or run that part again.",
        )
    changes = RerunPlanStart(version=pinned.version)
    prepared = await _prepare(database, engine, principal, past, changes, keeps_session=True)
    found = _told_of(prepared)
    await _begin(engine, principal, prepared, found.marked(once))
    return found


async def plan_rerun(
    database: Database, engine: ExecutionBackend, principal: Principal, run_id: str, wanted: RerunPlanStart
) -> Rerun:
    """What running a past run again would take over and do again. Starts nothing; a draft that is wanted is frozen.

    Raises `RunNotFound`, `RunNotOver`, `StepNotFound`, or what `prepare_run` raises.
    """
    past = await read_past_run(database, engine, principal, run_id)
    return await _prepare(database, engine, principal, past, wanted)


async def rerun(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    run_id: str,
    wanted: RerunPlanStart,
    *,
    once: StartKey | None = None,
) -> Rerun:
    """Run a past run again, as `plan_rerun` says. Raises what it raises, `SourceGone`, `KeyTaken`, or `Unavailable`."""
    planned = await plan_rerun(database, engine, principal, run_id, wanted)
    await _begin(engine, principal, planned, once)
    return planned


async def cost_of_run(session: AsyncSession, principal: Principal, run_id: str) -> RunCostOut:
    """What a run took so far. Raises `RunNotFound`, `PermissionMissing`."""
    row = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    pinned = pinned_of(row)
    costs = {
        step.step_id: cost_of(step)
        for step in await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
        if step.reused_from_run_id is None and step.step_id not in pinned and step.started_at is not None
    }
    return RunCostOut(
        steps={step_id: cost_out(one) for step_id, one in costs.items()}, total=cost_out(total([*costs.values()]))
    )


def _require_failed(past: PastRun) -> None:
    again = f"`headgate runs rerun {past.key.run_id}` (POST .../rerun)"
    if past.status is RunStatus.CANCELLED:
        raise NotResumable(
            f"Run '{past.key.run_id}' was cancelled, and a cancelled run never goes on.",
            remedy=f"Start a new run; {again} takes over what was paid.",
        )
    if past.status is RunStatus.COMPLETED:
        raise NotResumable(
            f"Run '{past.key.run_id}' is completed: there is nothing left of it to do.",
            remedy=f"Run it again, from any step and with other inputs: {again}.",
        )


async def _resume_in_place(
    engine: ExecutionBackend, principal: Principal, past: PastRun, once: StartKey | None
) -> Resumption:
    step = past.first_failed
    resumption = Resumption(past.key, "in_place", f"The run goes on at step '{step}'.", step)
    entry = await change_of(engine, principal, past.key, "run.resumed")
    found = await engine.resume(past.key, entry, resumption.marked(once))
    if found is None:
        raise RunNotFound(past.key.run_id)
    if not found.changed:
        if found.status is RunStatus.FAILED:
            raise FlowNotFound(past.key.flow_id)
        raise NotResumable(
            f"Run '{past.key.run_id}' is {found.status} by now.", remedy="Read the run to see what became of it."
        )
    return resumption


async def _prepare(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    past: PastRun,
    wanted: RerunPlanStart,
    *,
    keeps_session: bool = False,
) -> Rerun:
    """The new run, checked like any other, and what becomes of each of its steps.

    Args:
        database: Where versions are.
        engine: Will carry it out.
        principal: Who asks.
        past: The run to build on.
        wanted: What is to be changed.
        keeps_session: Whether this is the resumption of a failed turn of a chat, whose place it takes; a rerun is no
            turn of the chat, and is not given the turns before it. Nobody takes a place in another's chat.
    """
    version: Wanted = past.key.version if wanted.version is None else wanted.version
    start = await _start_of(database, engine, principal, past, wanted, version=version)
    in_chat = keeps_session and past.user_id == (principal.user_id or None)
    start = start.model_copy(update={"session_id": past.session_id if in_chat else None})
    prepared = await prepare_run(database, engine, principal, past.key.flow_id, start)
    request = prepared.request
    planned = await engine.plans.of(request.key)
    if wanted.from_step is not None and wanted.from_step not in planned.steps:
        raise StepNotFound(past.key.run_id, wanted.from_step)
    changed = await _input_changed(engine, past, request)
    readers = await input_readers(engine, past) if changed else frozenset[str]()
    decisions = decide_steps(past.planned, planned, past.reusable, from_step=wanted.from_step, reads_input=readers)
    upstream = _upstream(past, planned) if keeps_session else None
    if upstream is not None:
        decisions = everything(planned, Why.UPSTREAM, upstream)
    elif all(one.reuse for one in decisions):
        decisions = everything(planned, Why.EVERYTHING)
    return Rerun(past, prepared, planned, decisions, input_changed=changed)


async def _start_of(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    past: PastRun,
    wanted: RerunPlanStart,
    *,
    version: Wanted,
) -> RunStart:
    """The past run's input with the edits made. Its answers to questions that the form no longer asks are left out."""
    pinned = await versions.pin_version(
        database, principal, engine.services.components, past.key.flow_id, wanted=version
    )
    planned = await engine.plans.of(replace(past.key, version=pinned.version))
    asked = {field.id for field in planned.form}
    before: dict[str, Any] = past.input_payload.get("form_data", {})
    answers = {name: answer for name, answer in before.items() if name in asked} | (wanted.form_data or {})
    answers = {name: answer for name, answer in answers.items() if answer is not None}
    own_files = set(file_ids_in(past.planned.form, before))
    kept = [file["id"] for file in past.input_payload.get("files", ()) if file["id"] not in own_files]
    return RunStart(
        text=past.input_payload["text"] if wanted.text is None else wanted.text,
        form_data=answers,
        file_ids=kept if wanted.file_ids is None else wanted.file_ids,
        version=pinned.version,
    )


async def _input_changed(engine: ExecutionBackend, past: PastRun, request: RunRequest) -> bool:
    """Whether the new run is given anything else than the past one: text, answers, files, or chat before it."""
    if orjson.loads(input_payload(request.input)) != past.input_payload:
        return True
    before = await history_of(engine, past.key, past.session_id, past.user_id)
    after = await history_of(engine, request.key, request.session_id, request.user_id)
    return list(before) != list(after)


def _upstream(past: PastRun, planned: PlannedFlow) -> str | None:
    failed = past.first_failed
    return None if failed is None else changed_upstream(past.planned, planned, failed)


async def _begin(engine: ExecutionBackend, principal: Principal, rerun: Rerun, once: StartKey | None) -> None:
    reused = tuple(one.step_id for one in rerun.decisions if one.reuse)
    first = first_again(rerun.decisions)
    request = replace(rerun.request, reuse=Reuse(rerun.past.key.run_id, reused, first))
    await begin_run(engine, principal, replace(rerun.prepared, request=request), once=once)


def first_again(decisions: Sequence[Decision]) -> str | None:
    """The first step that is done again."""
    return next((one.step_id for one in decisions if not one.reuse), None)


def _told_of(rerun: Rerun) -> Resumption:
    first = rerun.decisions[0] if rerun.decisions else None
    from_step = first_again(rerun.decisions)
    version = rerun.request.key.version
    if first is not None and first.why is Why.UPSTREAM:
        said = f"A new run of version {version} starts anew: '{first.because}' has changed before the step that failed."
        return Resumption(rerun.request.key, "restarted", said, from_step, first.because)
    said = f"A new run of version {version} takes over what was paid and goes on at step '{from_step}'."
    return Resumption(rerun.request.key, "continued", said, from_step)


def cost_out(cost: Cost) -> CostOut:
    """A cost as the API shows it."""
    return CostOut(tokens_input=cost.tokens_input, tokens_output=cost.tokens_output, usd=cost.usd, ms=cost.ms)
