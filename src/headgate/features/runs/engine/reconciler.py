"""Decides what to do with runs that may have lost their worker, for all engines alike.

| rows | action |
|---|---|
| the flow was deleted, a live worker runs a step | none: the step may finish, and that ends the run |
| the flow was deleted, no live worker runs a step | end with `flow_deleted` |
| its steps ran for longer than the limit | end with `run_stale`, even with a live worker |
| a step lost its worker for the fifth time in a row | the step and its run fail with `worker_lost` |
| a step lost its worker | recover |
| no worker runs a step, and only waiting steps are left for now | the run waits |
| no worker runs a step; never dispatched, or too long ago | recover |
| the run has failed, and one of its steps lost its worker | the step fails with `worker_lost` |

`judge` is pure; `Reconciler.sweep` ends runs and returns those to recover. Every write is guarded by the state that it
was decided from, so concurrent or late reconcilers change nothing twice.
"""

import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from enum import StrEnum

from headgate.features.runs.errors import (
    FLOW_DELETED,
    FLOW_DELETED_MESSAGE,
    RUN_STALE,
    WORKER_LOST,
    WORKER_LOST_MESSAGE,
)
from headgate.features.runs.states import MAX_ATTEMPTS, RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Claim, Failed, Holder, LiveRun, RunKey, clock
from headgate.foundation.log import get_logger

MICROSECONDS = 1_000_000
LOOK_BACK_SECONDS = 86_400
"""A sweep checks runs that failed within this time for steps left in them; the first sweep checks all."""
log = get_logger(__name__)


class Action(StrEnum):
    """What to do with a run."""

    LEAVE = "leave"
    TAKE_UP = "take_up"
    END = "end"


@dataclass(frozen=True, slots=True)
class Rules:
    """Limits of an engine."""

    run_timeout_seconds: float | None = None
    """Longest time that a run's steps may run in total, without down time and waits in queues."""
    redispatch_seconds: float = 0.0
    """How long a dispatched run without a worker is left to its queue."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Decision about one run, with its reason."""

    action: Action
    code: str = ""
    """Reason of an end."""
    message: str = ""
    step: Claim | None = None
    """The step whose failure ends the run."""
    lost: tuple[Claim, ...] = ()
    """Steps to take from their dead workers."""


LEAVE = Verdict(Action.LEAVE)


HasLost = Callable[[str, Holder], bool]
"""Whether a step of a run, named by its id, may be claimed from its holder; see `WorkerLease.has_lost`."""


def judge(run: LiveRun, *, now: int, has_lost: HasLost, rules: Rules) -> Verdict:
    """Decide what to do with a run that is not over.

    Args:
        run: Its rows.
        now: Microseconds in UTC.
        has_lost: Whether a step may be claimed from its holder.
        rules: Limits of the engine.
    """
    left = [holder for holder in run.holders if has_lost(run.key.run_id, holder)]
    if run.flow_deleted:
        living = any(not has_lost(run.key.run_id, holder) for holder in run.holders)
        return LEAVE if living else Verdict(Action.END, FLOW_DELETED, FLOW_DELETED_MESSAGE)
    if run.worked is not None and _exceeds(run.worked, rules):
        message = f"The run did not finish within {rules.run_timeout_seconds:g} seconds of execution time."
        return Verdict(Action.END, RUN_STALE, message)
    hopeless = next((holder for holder in left if is_hopeless(holder)), None)
    if hopeless is not None:
        claim = Claim(hopeless.step_id, hopeless.attempt)
        return Verdict(Action.END, WORKER_LOST, interrupted_too_often(hopeless), step=claim)
    if left:
        return Verdict(Action.TAKE_UP, lost=tuple(Claim(holder.step_id, holder.attempt) for holder in left))
    return LEAVE if run.holders else _idle(run, now, rules)


def is_hopeless(holder: Holder) -> bool:
    """Return whether a step whose worker is gone has lost too many in a row to be attempted again."""
    return holder.interruptions + 1 >= MAX_ATTEMPTS


def interrupted_too_often(holder: Holder) -> str:
    """Return the error message of a step that killed every worker."""
    return (
        f"Step '{holder.step_id}' was interrupted {holder.interruptions + 1} times: each time its worker died or lost "
        "the database connection."
    )


def _exceeds(microseconds: int, rules: Rules) -> bool:
    return rules.run_timeout_seconds is not None and microseconds > rules.run_timeout_seconds * MICROSECONDS


def _idle(run: LiveRun, now: int, rules: Rules) -> Verdict:
    """Decide about a run without a worker: it waits in a queue, or its message was lost or never sent."""
    if run.dispatched_at is not None and abs(now - run.dispatched_at) < rules.redispatch_seconds * MICROSECONDS:
        return LEAVE
    return Verdict(Action.TAKE_UP)


@dataclass(slots=True)
class Sweep:
    """Result of a sweep of all runs."""

    take_up: list[LiveRun] = field(default_factory=list)
    """Runs to recover, oldest first: queue them here, or dispatch them again."""
    queued: list[LiveRun] = field(default_factory=list)
    """Runs that wait in this process."""
    ended: list[tuple[RunKey, Verdict]] = field(default_factory=list)
    """Runs that were ended, with the reason, for notification."""
    settled: int = 0
    """Steps of failed runs that were ended."""


class Reconciler:
    """Sweeps all open runs, ends those that cannot continue, and returns those to recover.

    Args:
        store: The rows.
        has_lost: Whether a step may be claimed from its holder.
        rules: Limits of the engine.
    """

    def __init__(self, store: RunStore, has_lost: HasLost, rules: Rules) -> None:
        self._store = store
        self._has_lost = has_lost
        self._rules = rules
        self._looked_back = False
        self._taken: frozenset[str] = frozenset()
        """Runs that the last sweep returned."""
        self._ahead = clock() - _steady()

    async def sweep(self, busy: Container[str] = ()) -> Sweep:
        """Sweep once. `busy` are ids of runs that the caller owns: they may be ended, and need no recovery."""
        sweep = Sweep()
        now = clock()
        for run in await self._store.live_runs():
            timed = await self._timed(run, now)
            if run.status is RunStatus.QUEUED and run.key.run_id in busy:
                sweep.queued.append(run)
            verdict = judge(timed, now=now, has_lost=self._has_lost, rules=self._rules)
            if verdict.action is Action.TAKE_UP and run.key.run_id not in busy:
                if not (run.waits and not run.holders and await self._store.rest(run.key, now)):
                    sweep.take_up.append(run)
            elif verdict.action is Action.END and await self._end(run.key, verdict, now):
                sweep.ended.append((run.key, verdict))
        for key in await self._store.orphans():
            verdict = Verdict(Action.END, FLOW_DELETED, FLOW_DELETED_MESSAGE)
            if await self._end(key, verdict, now):
                sweep.ended.append((key, verdict))
        sweep.settled = await self._settle_stragglers(now)
        recovered_ids = frozenset(run.key.run_id for run in sweep.take_up)
        # While the queue is down every sweep returns the same runs.
        if recovered_ids - self._taken or sweep.ended or sweep.settled:
            log.info("reconciled", taken_up=len(sweep.take_up), ended=len(sweep.ended), settled=sweep.settled)
        self._taken = recovered_ids
        return sweep

    async def settle_lost(self, run_id: str) -> None:
        """End the steps of one failed run that their workers left."""
        now = clock()
        for straggler in await self._store.stragglers(since=0, run_id=run_id):
            if self._has_lost(straggler.key.run_id, straggler.holder):
                await self._fail(straggler.key, straggler.holder, now)

    async def _timed(self, run: LiveRun, now: int) -> LiveRun:
        """Return the run with its execution time, if that may exceed the limit."""
        began, until = run.started_at, min(now, self._ahead + _steady())
        if run.status is not RunStatus.RUNNING or began is None or not _exceeds(until - began, self._rules):
            return run
        return replace(run, worked=await self._store.worked(run.key.run_id, since=began, until=until))

    async def _end(self, key: RunKey, verdict: Verdict, at: int) -> bool:
        if verdict.step is None:
            return await self._store.end(key, verdict.code, verdict.message, at)
        failed = Failed(verdict.step, verdict.code, verdict.message)
        return (await self._store.fail(key, failed, at)).recorded

    async def _settle_stragglers(self, now: int) -> int:
        since = now - LOOK_BACK_SECONDS * MICROSECONDS if self._looked_back else 0
        settled = 0
        for straggler in await self._store.stragglers(since=since):
            if self._has_lost(straggler.key.run_id, straggler.holder):
                settled += await self._fail(straggler.key, straggler.holder, now)
        self._looked_back = True
        return settled

    async def _fail(self, key: RunKey, holder: Holder, at: int) -> bool:
        claim = Claim(holder.step_id, holder.attempt)
        return (await self._store.fail(key, Failed(claim, WORKER_LOST, WORKER_LOST_MESSAGE), at)).recorded


def _steady() -> int:
    """Return microseconds that only increase: a clock adjustment makes no run older than it is."""
    return time.monotonic_ns() // 1000
