"""The state machines of runs, steps and attempts. Nothing else decides what may follow what.

Run                                             Step
                                                              waiting = 0
  created ─┬─► queued ──► running ─┬─► completed   pending ─────claim────► running ─┬─► completed
           └──────────────► │  ▲   ├─► failed         │ ▲                    │ ▲    ├─► failed
                   │        │  └╌╌╌┘   │ resume       │ ╎                    └─┘    └─► cancelled
                   │        └─► cancelled             │ ╎                 taken over
                   ├─► cancelled                      │ ╎              from a dead worker
                   └─► failed (hopeless: its flow     ├─► skipped
                       was deleted)                   └─► cancelled
                                                        ╎
                                                        └╌╌╌ resume: from failed and cancelled

Attempt

  started ─┬─► completed
           ├─► failed
           ├─► retried     the worker died or lost its lease; the next attempt follows
           └─► cancelled

A step runs once: only `pending` with nothing left to wait for can be claimed, and `completed` leads nowhere. Taking
over keeps the step `running` and counts `attempts` up; every later write names the attempt it belongs to, so a worker
that was taken for dead can no longer write. The dashed moves are made by a request to resume only, all of one run in
one transaction: a failed run is running again, its failed steps, and those that were cancelled when it ended, wait to
be claimed again, and their attempts count on. A cancelled run never moves again, nor does a completed one. A run that
takes results over from another is born with those steps `completed` or `skipped`, and is queued. The stores build the
guards of their SQL from these tables.
"""

from collections.abc import Iterable
from enum import StrEnum


class RunStatus(StrEnum):
    """Where a run is."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether no step of the run will start any more."""
        return self not in LIVE_RUNS


class StepStatus(StrEnum):
    """Where a step of a run is."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def settled(self) -> bool:
        """Whether what hangs on the step can go on: it has its outputs, or it was skipped."""
        return self in {StepStatus.COMPLETED, StepStatus.SKIPPED}


class AttemptStatus(StrEnum):
    """What became of one try at a step."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    RETRIED = "retried"
    CANCELLED = "cancelled"


RUN_MOVES = frozenset(
    {
        (RunStatus.QUEUED, RunStatus.RUNNING),
        (RunStatus.QUEUED, RunStatus.CANCELLED),
        (RunStatus.QUEUED, RunStatus.FAILED),
        (RunStatus.RUNNING, RunStatus.COMPLETED),
        (RunStatus.RUNNING, RunStatus.FAILED),
        (RunStatus.RUNNING, RunStatus.CANCELLED),
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
    }
)
RUN_RESUMES = frozenset({(RunStatus.FAILED, RunStatus.RUNNING)})
"""Moves of a run that only a request to resume makes."""
STEP_RESUMES = frozenset({(StepStatus.FAILED, StepStatus.PENDING), (StepStatus.CANCELLED, StepStatus.PENDING)})
"""Moves of its steps, in the same transaction."""
BORN_SETTLED = frozenset({StepStatus.COMPLETED, StepStatus.SKIPPED})
"""States in which a step may be taken over from another run."""
ATTEMPT_MOVES = frozenset((AttemptStatus.STARTED, after) for after in AttemptStatus if after != AttemptStatus.STARTED)

LIVE_RUNS = frozenset(before for before, _ in RUN_MOVES)
"""Runs that may still change by themselves."""

MAX_ATTEMPTS = 5
"""Tries at a step whose workers keep dying; then the step has failed."""


def sources(moves: Iterable[tuple[StrEnum, StrEnum]], after: StrEnum) -> frozenset[StrEnum]:
    """The states from which `after` may be reached."""
    return frozenset(before for before, found in moves if found == after)


def sql_list(states: Iterable[StrEnum]) -> str:
    """States as the right side of SQL's IN, for example `('queued', 'running')`."""
    return "(" + ", ".join(f"'{state}'" for state in sorted(states)) + ")"


def guard(moves: Iterable[tuple[StrEnum, StrEnum]], after: StrEnum) -> str:
    """SQL condition that lets a row move to `after` only from a state that may: `status IN (...)`."""
    return f"status IN {sql_list(sources(moves, after))}"
