"""Steps that wait without a worker, as plain values."""

from dataclasses import dataclass
from enum import StrEnum

from headgate.features.runs.states import RunStatus
from headgate.features.runs.transitions import Claim, Json, RunKey


class WaitReason(StrEnum):
    """What a suspended step waits for."""

    TIME = "time"
    RETRY = "retry"
    APPROVAL = "approval"
    EVENT = "event"
    RUN = "run"
    SLOT = "slot"
    BREAKPOINT = "breakpoint"


_WORDS = {
    WaitReason.TIME: "its time",
    WaitReason.RETRY: "its next attempt",
    WaitReason.APPROVAL: "approval",
    WaitReason.EVENT: "an event",
    WaitReason.RUN: "the runs that it started",
    WaitReason.SLOT: "a free slot",
    WaitReason.BREAKPOINT: "its user, at a breakpoint",
}


ANSWERED = "what it waited for has happened; it continues with the run"
"""What a waiting step of a paused run does, when it needs nothing any more."""


def waiting_words(reason: object, until: object) -> str:
    """Say what a step waits for, as in `approval, until 2026-11-24T12:00:00+00:00`; `until` is an ISO date or None."""
    words = _WORDS.get(WaitReason(str(reason)), "")
    return f"{words}, until {until}" if until else words


@dataclass(frozen=True, slots=True)
class RunWait:
    """What a run waits for, which somebody has to do or which takes long: a step of it, or of a run that it started."""

    reason: WaitReason
    until: int | None
    """When the step continues at the latest: microseconds in UTC. None: when it is answered."""
    run_id: str
    """The run of the step."""
    flow_id: str
    step_id: str


@dataclass(frozen=True, slots=True)
class Tries:
    """Failed attempts at a step since its run started or was resumed."""

    failures: int = 0
    since: int | None = None
    """Start of the first attempt that failed: microseconds in UTC."""
    tokens_input: int | None = None
    """Tokens that those attempts used."""
    tokens_output: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed after which the step is attempted again, and what it left."""

    code: str
    message: str
    record: Json
    """Prompt, calls, log and tokens of this attempt; see `rows.RECORD_MEMBERS`."""
    tries: Tries
    """This attempt included."""
    max_attempts: int


@dataclass(frozen=True, slots=True)
class Suspension:
    """A step that ends its attempt to wait."""

    claim: Claim
    reason: WaitReason
    until: int | None
    """When it is woken at the latest: microseconds in UTC. None: when it is answered (`waking`)."""
    failure: Failure | None = None
    """Where it waits for a retry."""
    expected_runs: int | None = None
    """Where it waits for runs that it started: how many it starts in all, if that is known."""


@dataclass(frozen=True, slots=True)
class WokenRun:
    """A run of which steps were woken."""

    key: RunKey
    starter: str | None
    """The user who started it, or the digest of a visitor's address."""


@dataclass(frozen=True, slots=True)
class OverdueRun:
    """A run that has not ended at its deadline."""

    key: RunKey
    deadline_after: int
    """Microseconds after its start."""


@dataclass(frozen=True, slots=True)
class Paused:
    """Outcome of a request to pause or continue a run."""

    status: RunStatus
    """Its status afterwards."""
    changed: bool
    runs: tuple[WokenRun, ...] = ()
    """The runs that changed: itself, and those that its steps started."""
