"""The state machines of runs, steps and attempts. All transitions are defined here.

Run                                             Step
                                                              waiting = 0
  created ─┬─► queued ──► running ─┬─► completed   pending ─────claim────► running ─┬─► completed
           └──────────────► │  ▲   ├─► failed         │ ▲                    │ ▲    ├─► failed
                   │        │  └╌╌╌┘   │ resume       │ ╎                    └─┘    └─► cancelled
                                      │        └─► cancelled             │ ╎                 recovered
                   ├─► cancelled                      │ ╎              from a dead worker
                                      └─► failed (cannot run: its flow   ├─► skipped
                       was deleted)                   └─► cancelled
                                                        ╎
                                                        └╌╌╌ resume: from failed and cancelled

Waiting: a running step that waits for a time suspends (`running` to `waiting`) and needs no worker. When the time has
come it is `pending` again with no parents to wait for, and is claimed like any other step. A run of which no step runs
or can be claimed while one waits is `waiting` too; waking its step makes it `running`.

Paused: a user may pause a run that is not over. Its running steps finish, and may complete or fail the run; no step is
claimed or woken. Continuing makes it `running` again, or `queued` where it has not started.

Attempt

  started ─┬─► completed
           ├─► failed
           ├─► retried     the worker died or lost its lease; the next attempt follows
           ├─► suspended   the step waits; the next attempt follows when it is woken
           └─► cancelled

A step runs once: only `pending` with nothing left to wait for can be claimed, and `completed` has no successor.
Recovery keeps the step `running` and increments `attempts`; every later write names the attempt it belongs to, so a
worker that was presumed dead can no longer write. Only a resume request makes the dashed transitions, all of one run in
one transaction: a failed run is running again, its failed steps, and those that were cancelled when it ended, wait to
be claimed again, with their attempt counts continued. Cancelled and completed runs never change. A run that reuses
results of another is created with those steps `completed` or `skipped`, and is queued. The stores build the
guards of their SQL from these tables.
"""

from collections.abc import Iterable
from enum import StrEnum


class RunStatus(StrEnum):
    """Status of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether no further step of the run will start."""
        return self not in LIVE_RUNS


class StepStatus(StrEnum):
    """Status of a step."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def settled(self) -> bool:
        """Whether dependent steps can continue: it has its outputs, or it was skipped."""
        return self in {StepStatus.COMPLETED, StepStatus.SKIPPED}


class AttemptStatus(StrEnum):
    """Status of an attempt."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    RETRIED = "retried"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"


RUN_MOVES = frozenset(
    {
        (RunStatus.QUEUED, RunStatus.RUNNING),
        (RunStatus.QUEUED, RunStatus.CANCELLED),
        (RunStatus.QUEUED, RunStatus.FAILED),
        (RunStatus.RUNNING, RunStatus.COMPLETED),
        (RunStatus.RUNNING, RunStatus.FAILED),
        (RunStatus.RUNNING, RunStatus.CANCELLED),
        (RunStatus.RUNNING, RunStatus.WAITING),
        (RunStatus.WAITING, RunStatus.RUNNING),
        (RunStatus.WAITING, RunStatus.FAILED),
        (RunStatus.WAITING, RunStatus.CANCELLED),
        (RunStatus.QUEUED, RunStatus.PAUSED),
        (RunStatus.RUNNING, RunStatus.PAUSED),
        (RunStatus.WAITING, RunStatus.PAUSED),
        (RunStatus.PAUSED, RunStatus.COMPLETED),
        (RunStatus.PAUSED, RunStatus.FAILED),
        (RunStatus.PAUSED, RunStatus.CANCELLED),
    }
)
STEP_MOVES = frozenset(
    {
        (StepStatus.PENDING, StepStatus.RUNNING),
        (StepStatus.PENDING, StepStatus.SKIPPED),
        (StepStatus.PENDING, StepStatus.CANCELLED),
        (StepStatus.RUNNING, StepStatus.RUNNING),
        (StepStatus.RUNNING, StepStatus.COMPLETED),
        (StepStatus.RUNNING, StepStatus.FAILED),
        (StepStatus.RUNNING, StepStatus.CANCELLED),
        (StepStatus.RUNNING, StepStatus.WAITING),
        (StepStatus.WAITING, StepStatus.PENDING),
        (StepStatus.WAITING, StepStatus.CANCELLED),
    }
)
RUN_RESUMES = frozenset({(RunStatus.FAILED, RunStatus.RUNNING)})
"""Transitions of a run that only a resume request makes."""
RUN_CONTINUES = frozenset({(RunStatus.PAUSED, RunStatus.QUEUED), (RunStatus.PAUSED, RunStatus.RUNNING)})
"""Transitions of a paused run that only a request to continue makes."""
STEP_RESUMES = frozenset({(StepStatus.FAILED, StepStatus.PENDING), (StepStatus.CANCELLED, StepStatus.PENDING)})
"""Transitions of its steps, in the same transaction."""
BORN_SETTLED = frozenset({StepStatus.COMPLETED, StepStatus.SKIPPED})
"""Statuses in which a step of another run may be reused."""
ATTEMPT_MOVES = frozenset((AttemptStatus.STARTED, after) for after in AttemptStatus if after != AttemptStatus.STARTED)

LIVE_RUNS = frozenset(before for before, _ in RUN_MOVES)
"""Runs that may still change without a request."""
CLAIMABLE_RUNS = LIVE_RUNS - {RunStatus.PAUSED}
"""Runs of which steps may be claimed and woken."""
ACTIVE_RUNS = CLAIMABLE_RUNS - {RunStatus.WAITING}
"""Runs that need a worker, now or when one is free. Waiting and paused runs need none, however many there are."""

MAX_ATTEMPTS = 5
"""How often in a row workers may die at a step, before it fails."""


def sources(moves: Iterable[tuple[StrEnum, StrEnum]], after: StrEnum) -> frozenset[StrEnum]:
    """Return the states from which `after` may be reached."""
    return frozenset(before for before, state in moves if state == after)


def sql_list(states: Iterable[StrEnum]) -> str:
    """Return states as the right side of SQL's IN, for example `('queued', 'running')`."""
    return "(" + ", ".join(f"'{state}'" for state in sorted(states)) + ")"


def guard(moves: Iterable[tuple[StrEnum, StrEnum]], after: StrEnum) -> str:
    """Return the SQL condition under which a row may move to `after`: `status IN (...)`."""
    return f"status IN {sql_list(sources(moves, after))}"
