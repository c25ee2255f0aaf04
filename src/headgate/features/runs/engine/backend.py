"""The port to whatever carries runs out: the embedded engine in the server, workers behind a queue elsewhere."""

from dataclasses import dataclass
from typing import Protocol

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.ports import Services
from headgate.features.runs.quotas.bounds import Bound
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Cancelled, Part, Resumed, Reuse, RunKey
from headgate.foundation.events import EventFeed
from headgate.sdk import RunInput


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run to start: pinned to a version, its input checked."""

    key: RunKey
    input: RunInput
    user_id: str | None = None
    session_id: str | None = None
    reuse: Reuse | None = None
    """Results that the run takes over; it is queued with them settled, and only the remainder is carried out."""
    part: Part | None = None
    """What of the flow is to be carried out; None: all of it. Not together with `reuse`."""
    entry: Entry | None = None
    """What the audit log says of its start: who began it. None for runs that nobody began."""
    once: StartKey | None = None
    """The idempotency key of the request that starts it."""
    visitor: str | None = None
    """Digest of the network address of a visitor who starts it."""
    bounds: tuple[Bound, ...] = ()
    """Quotas to check."""

    @property
    def is_whole(self) -> bool:
        """Whether every step of the flow is to be carried out."""
        return self.reuse is None and self.part is None

    @property
    def starter(self) -> str | None:
        """The user or the visitor who starts it."""
        return self.user_id or self.visitor


@dataclass(frozen=True, slots=True)
class BackendHealth:
    """Whether runs can make progress, for readiness checks and metrics."""

    kind: str
    """`embedded` or `celery`."""
    broker: bool | None
    """Whether the broker answers; None where there is none."""
    results: bool | None
    """Whether the result backend answers; None where there is none."""
    workers: int
    """Workers seen alive; the embedded engine counts itself."""
    queue_depth: int
    """Messages, or runs, that wait for a worker. -1 when that cannot be told."""
    problems: tuple[str, ...] = ()
    """What is wrong, for people; empty when nothing is."""

    @property
    def ready(self) -> bool:
        """Whether a run that is started now will be carried out."""
        return not self.problems


class ExecutionBackend(Protocol):
    """Starts, cancels and recovers runs. The conformance suite says what every adapter must do."""

    @property
    def plans(self) -> Plans:
        """The plans of versions."""
        ...

    @property
    def services(self) -> Services:
        """What steps may reach."""
        ...

    @property
    def store(self) -> RunStore:
        """The rows of runs."""
        ...

    @property
    def feed(self) -> EventFeed:
        """Where the events of runs are heard, whichever process carries them out."""
        ...

    async def open(self) -> None:
        """Get ready; take up what an earlier process left, if so set."""
        ...

    async def close(self) -> None:
        """Stop taking steps, give those at work a moment, leave the rest to be recovered."""
        ...

    async def start(self, request: RunRequest) -> RunStatus:
        """Write the run down and see to it that it runs. Once this returns the run survives any crash.

        Raises `FlowInvalid`, `Unavailable`, or `SourceGone` for results that are not there to be taken over; then there
        is no run.
        """
        ...

    async def resume(self, key: RunKey, entry: Entry | None = None, once: StartKey | None = None) -> Resumed | None:
        """Let a failed run go on on its own version: see `RunStore.resume`, then carry its remainder out.

        Steps that dead workers left in it are ended first. None when the tenant has no such run.
        """
        ...

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """End a run; idempotent. None when the tenant has no such run."""
        ...

    async def wait(self, run_id: str) -> None:
        """Return once the run is over."""
        ...

    async def recover(self) -> int:
        """Take up runs that nobody works on: queued ones, and steps of workers that died. Returns how many."""
        ...

    async def health(self) -> BackendHealth:
        """Whether runs can make progress now. Answers within two seconds and raises nothing."""
        ...
