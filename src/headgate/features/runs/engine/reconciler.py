"""What is to be done for runs that nobody may be working on. Every engine asks here, and so they all do the same.

| what the rows say | what is done |
|---|---|
| the flow was deleted, a living worker is at a step | nothing: the step may finish, and that ends the run |
| the flow was deleted, no living worker is at a step | end with `flow_deleted` |
| workers were at its steps for longer than they may be | end with `run_stale`, whoever works on it |
| a step lost its worker, and this was its last attempt | the step fails with `worker_lost`, and its run with it |
| a step lost its worker, or the moment has come that it waits for | take up |
| nobody is at a step; never handed to a queue, or too long ago | take up |
| the run has failed, and a step of it lost its worker | the step fails with `worker_lost` |

`judge` is pure; `Reconciler.sweep` makes the ends and tells which runs to take up. Everything it writes is guarded by
the state it was judged from, so two reconcilers at once, or one that is late, change nothing twice.
"""

import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from enum import StrEnum

from headgate.features.jobs.leases import TIMER
from headgate.features.runs.errors import (
    FLOW_DELETED,
    FLOW_DELETED_MESSAGE,
    RUN_STALE,
    WORKER_LOST,
    WORKER_LOST_MESSAGE,
)
from headgate.features.runs.states import MAX_ATTEMPTS, RunStatus
from headgate.features.runs.steps.parking import PARKED
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Claim, Failed, Holder, LiveRun, RunKey, clock
from headgate.foundation.log import get_logger

MICROSECONDS = 1_000_000
LOOK_BACK_SECONDS = 86_400
"""How long ago a run may have failed for a sweep to look for steps left in it; the first sweep looks at all."""
log = get_logger(__name__)


class Action(StrEnum):
    """What is to be done for a run."""

    LEAVE = "leave"
    TAKE_UP = "take_up"
    END = "end"


@dataclass(frozen=True, slots=True)
class Rules:
    """What an engine allows."""

    run_timeout_seconds: float | None = None
    """Longest time that workers may be at the steps of a run; no down time, no waiting in a queue."""
    redispatch_seconds: float = 0.0
    """How long a run that was handed to a queue is left to it, while nobody works on it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done for one run, and why."""

    action: Action
    code: str = ""
    """Reason of an end."""
    message: str = ""
    step: Claim | None = None
    """The step that an end is the failure of."""
    lost: tuple[Claim, ...] = ()
    """Steps to take from their dead workers."""


LEAVE = Verdict(Action.LEAVE)


HasLost = Callable[[str, Holder], bool]
"""Whether a step of a run, named by its id, may be taken from its holder; see `Shift.has_lost`."""


def judge(run: LiveRun, *, now: int, has_lost: HasLost, rules: Rules) -> Verdict:
    """What is to be done for a run that is not over.

    Args:
        run: Its rows.
        now: Microseconds in UTC.
        has_lost: Whether a step may be taken from its holder.
        rules: What the engine allows.
    """
    lost = tuple(Claim(holder.step_id, holder.attempt) for holder in run.holders if has_lost(run.key.run_id, holder))
    if run.flow_deleted:
        living = any(holder.worker_id != TIMER and not has_lost(run.key.run_id, holder) for holder in run.holders)
        return LEAVE if living else Verdict(Action.END, FLOW_DELETED, FLOW_DELETED_MESSAGE)
    if run.worked is not None and _exceeds(run.worked, rules):
        message = f"The run was not finished after {rules.run_timeout_seconds:g} seconds of work."
        return Verdict(Action.END, RUN_STALE, message)
    deaths = {holder.step_id for holder in run.holders if holder.worker_id != TIMER}
    hopeless = next((claim for claim in lost if claim.step_id in deaths and claim.attempt >= MAX_ATTEMPTS), None)
    if hopeless is not None:
        return Verdict(Action.END, WORKER_LOST, interrupted_too_often(hopeless), step=hopeless)
    if lost:
        return Verdict(Action.TAKE_UP, lost=lost)
    return LEAVE if run.holders else _idle(run, now, rules)


def interrupted_too_often(claim: Claim) -> str:
    """What is said of a step that killed every worker."""
    return (
        f"Step '{claim.step_id}' was interrupted {claim.attempt} times: each time its worker died or lost the database."
    )


def _exceeds(microseconds: int, rules: Rules) -> bool:
    return rules.run_timeout_seconds is not None and microseconds > rules.run_timeout_seconds * MICROSECONDS


def _idle(run: LiveRun, now: int, rules: Rules) -> Verdict:
    """Nobody is at a step: the run waits in a queue, or its message was lost or never sent."""
    if run.dispatched_at is not None and abs(now - run.dispatched_at) < rules.redispatch_seconds * MICROSECONDS:
        return LEAVE
    return Verdict(Action.TAKE_UP)


@dataclass(slots=True)
class Sweep:
    """What one look at all runs came to."""

    take_up: list[LiveRun] = field(default_factory=list)
    """Runs whose remainder is to be carried out, oldest first: to be queued here, or dispatched again."""
    ended: list[tuple[RunKey, Verdict]] = field(default_factory=list)
    """Runs that were ended, and why: to be told to whoever watches."""
    settled: int = 0
    """Steps of failed runs that were ended."""


class Reconciler:
    """Looks at every run that is not over, ends what is hopeless, and says what to take up.

    Args:
        store: The rows.
        has_lost: Whether a step may be taken from its holder.
        rules: What the engine allows.
    """

    def __init__(self, store: RunStore, has_lost: HasLost, rules: Rules) -> None:
        self._store = store
        self._has_lost = has_lost
        self._rules = rules
        self._looked_back = False
        self._taken: frozenset[str] = frozenset()
        """Runs that the last sweep found."""
        self._ahead = clock() - _steady()

    async def sweep(self, busy: Container[str] = ()) -> Sweep:
        """One look. `busy` are ids of runs that the caller owns: they may be ended, and need not be recovered."""
        sweep = Sweep()
        now = clock()
        for run in await self._store.live_runs():
            timed = await self._timed(run, now)
            verdict = judge(timed, now=now, has_lost=self._has_lost, rules=self._rules)
            if verdict.action is Action.TAKE_UP and run.key.run_id not in busy:
                sweep.take_up.append(run)
            elif verdict.action is Action.END and await self._end(run.key, verdict, now):
                sweep.ended.append((run.key, verdict))
        sweep.settled = await self._settle_stragglers(now)
        taken = frozenset(run.key.run_id for run in sweep.take_up)
        # While the queue is away every sweep finds the same runs.
        if taken - self._taken or sweep.ended or sweep.settled:
            log.info("reconciled", taken_up=len(sweep.take_up), ended=len(sweep.ended), settled=sweep.settled)
        self._taken = taken
        return sweep

    async def settle_lost(self, run_id: str) -> None:
        """End the steps of one failed run that their workers left."""
        now = clock()
        for straggler in await self._store.stragglers(since=0, run_id=run_id):
            if self._has_lost(straggler.key.run_id, straggler.holder):
                await self._fail(straggler.key, straggler.holder, now)

    async def _timed(self, run: LiveRun, now: int) -> LiveRun:
        """The run with the time that was worked on it, where that may be too long."""
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
        if holder.worker_id == TIMER:
            failed = Failed(claim, PARKED, "The run failed while the step was waiting.")
        else:
            failed = Failed(claim, WORKER_LOST, WORKER_LOST_MESSAGE)
        return (await self._store.fail(key, failed, at)).recorded


def _steady() -> int:
    """Microseconds of a clock that nobody sets: a jump of the other one makes no run older than it is."""
    return time.monotonic_ns() // 1000
