"""Restores a run from its rows, to continue where another process stopped or to learn what others stored."""

from dataclasses import replace

from headgate.features.runs.budgets.accounts import accounts_of
from headgate.features.runs.engine.backend import RunRequest
from headgate.features.runs.events import RunEvents
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.run_input import input_payload, marks_of, messages_of, run_input_of
from headgate.features.runs.states import StepStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.payloads import intact, origins_of, unpack
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.terms import Terms, terms_of
from headgate.features.runs.transitions import NewRun, PastTurn, RunKey, StoredRun, clock
from headgate.features.runs.waiting import Tries
from headgate.foundation.events import EventSink
from headgate.foundation.telemetry import SILENT, Telemetry
from headgate.sdk import RunInput

LONGEST_HISTORY = 50
"""Most earlier turns of a chat that a run receives."""


class Recovery:
    """Restores stored runs as active ones.

    Args:
        store: The rows.
        plans: The plans of their versions.
        files: Stores outputs over the inline limits.
        bus: Carries the runs' events.
        telemetry: Metrics and traces.
    """

    def __init__(
        self, store: RunStore, plans: Plans, files: RunFiles, bus: EventSink, telemetry: Telemetry = SILENT
    ) -> None:
        self._store = store
        self._plans = plans
        self._files = files
        self._bus = bus
        self._telemetry = telemetry

    async def revive(self, stored: StoredRun) -> ActiveRun:
        """Restore a run with everything that is settled in it.

        Raises `FlowInvalid`, `NotFound` or `RunDamaged` when it cannot continue.
        """
        planned = await self._plans.of(stored.key)
        run = ActiveRun(
            key=stored.key,
            planned=planned,
            input=await self.run_input(stored),
            started_at=stored.started_at or clock(),
            ledger=Ledger(planned),
            events=RunEvents(self._bus, stored.key.run_id, self._telemetry, stored.trace_parent),
            user_id=stored.user_id,
            visitor=stored.visitor,
            parent_run_id=stored.parent_run_id,
            result_step=stored.result_step,
            terms=terms_of(stored.terms),
        )
        await self.absorb(run, stored)
        return run

    async def run_input(self, stored: StoredRun) -> RunInput:
        """Return the input of a stored run, and the chat before it."""
        turns = await self.history(stored.key, stored.session_id, stored.user_id)
        with intact("its input"):
            return run_input_of(stored.input_payload, turns)

    async def input_of(self, request: RunRequest) -> RunInput:
        """Return the input of a new run, and the chat before it."""
        turns = await self.history(request.key, request.session_id, request.user_id)
        if not turns:
            return request.input
        history = (*request.input.history, *messages_of(turns))
        return replace(request.input, history=history, chat_outside=marks_of(turns))

    async def history(self, key: RunKey, session_id: str | None, user_id: str | None) -> list[PastTurn]:
        """Return the chat before a run; empty outside a chat."""
        return list(await self._store.past_turns(key, session_id, user_id, LONGEST_HISTORY)) if session_id else []

    async def absorb(self, run: ActiveRun, stored: StoredRun) -> None:
        """Update the run's ledger from its rows."""
        run.absorbed += any(step.attempts for step in stored.steps.values())
        run.woken = {step_id: step.waits_for for step_id, step in stored.steps.items() if step.waits_for}
        run.tries = {
            step_id: Tries(step.failures, step.failing_since, step.tokens_input, step.tokens_output)
            for step_id, step in stored.steps.items()
            if step.failures
        }
        needed = _still_read(run.planned, stored)
        for step_id, step in stored.steps.items():
            if run.ledger.settled(step_id):
                continue
            if step.status is StepStatus.SKIPPED:
                run.ledger.skipped.add(step_id)
            elif step.status is StepStatus.COMPLETED and step.output_payload is not None:
                is_last = run.returns_result(step_id)
                with intact(f"the leftovers of step '{step_id}'"):
                    run.ledger.note(step_id, *origins_of(step.output_payload), step.classification)
                    run.ledger.results[step_id] = (
                        await unpack(step.output_payload, run.key.tenant_id, self._files)
                        if is_last or step_id in needed
                        else {}
                    )
                if is_last:
                    run.leaf_payloads[step_id] = step.output_payload


def startable(run: ActiveRun, stored: StoredRun) -> list[str]:
    """Return steps of a stored run that wait for nothing and can be decided here."""
    return [
        step.step_id
        for step in stored.steps.values()
        if step.status is StepStatus.PENDING and step.waiting == 0 and run.ledger.decidable(step.step_id)
    ]


def whole_run(
    request: RunRequest,
    planned: PlannedFlow,
    trace_parent: str | None,
    *,
    claim: tuple[str, ...] = (),
    dispatched: bool = False,
) -> NewRun:
    """Return a run of all steps; queued unless steps are claimed."""
    terms = new_terms(request, planned)
    return NewRun(
        key=request.key,
        input_payload=input_payload(request.input, request.trigger, is_test=request.is_test),
        steps=planned.seeds,
        user_id=request.user_id,
        session_id=request.session_id,
        claim=claim,
        trace_parent=trace_parent,
        entry=request.entry,
        once=request.once,
        dispatched=dispatched,
        visitor=request.visitor,
        bounds=request.bounds,
        parent=request.parent,
        deadline_after=_deadline_after(request, planned),
        terms=terms.stored(),
        error_flow=_error_flow(request, planned, terms),
        companions=request.companions,
    )


def new_terms(request: RunRequest, planned: PlannedFlow) -> Terms:
    """Return what limits a new run."""
    settings = planned.flow.settings
    budgets = accounts_of(
        request.key.run_id,
        request.key.flow_id,
        run=(request.budget, settings.run_budget),
        daily=settings.daily_budget,
        inherited=request.inherited.budgets,
    )
    priority = settings.priority if request.priority is None else request.priority
    return Terms(
        budgets,
        priority=priority if request.parent is None else request.inherited.priority,
        handles=request.handles or request.inherited.handles,
        stops=request.stops,
    )


def _error_flow(request: RunRequest, planned: PlannedFlow, terms: Terms) -> str | None:
    """Return the flow that handles a failure; None for handlers, which are never handled, and for parts of a flow."""
    return None if terms.handles or request.part is not None else planned.flow.settings.error_flow or None


def _deadline_after(request: RunRequest, planned: PlannedFlow) -> int | None:
    """Return the earlier one of the deadlines of a request and of its flow, in microseconds after the start."""
    given = (request.deadline_seconds, planned.flow.settings.run_deadline_seconds)
    deadlines = [seconds for seconds in given if seconds is not None]
    return round(min(deadlines) * 1_000_000) if deadlines else None


def settled_run(request: RunRequest, planned: PlannedFlow, trace_parent: str | None) -> NewRun:
    """Return a queued run in which some steps are settled from the start: reused, pinned or excluded."""
    settled = frozenset(request.reuse.steps) if request.reuse is not None else frozenset[str]()
    if request.part is not None:
        settled = request.part.settled
    waiting = {step.id: len(set(step.step.parents) - settled) for step in planned.steps.values()}
    return replace(
        whole_run(request, planned, trace_parent),
        steps=tuple(replace(seed, waiting=waiting[seed.step_id]) for seed in planned.seeds),
        reuse=request.reuse,
        part=request.part,
    )


def _still_read(planned: PlannedFlow, stored: StoredRun) -> set[str]:
    """Return settled steps whose values an unsettled step may still read."""
    open_steps = [step_id for step_id, step in stored.steps.items() if not step.status.settled]
    return {ancestor for step_id in open_steps for ancestor in planned.plan.ancestors(step_id)}
