"""The port to the engine that executes runs: embedded in the server, or workers behind a queue."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.companions import Companion
from headgate.features.runs.quotas.bounds import Bound
from headgate.features.runs.states import RunStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.terms import NO_TERMS, Stops, Terms
from headgate.features.runs.transitions import Cancelled, Parent, Part, Resumed, Reuse, RunKey
from headgate.features.runs.waiting import Paused
from headgate.foundation.events import EventFeed
from headgate.graph.model import Budget
from headgate.sdk import RunInput


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run to start: pinned to a version, with checked input."""

    key: RunKey
    input: RunInput
    user_id: str | None = None
    session_id: str | None = None
    reuse: Reuse | None = None
    """Results to reuse. The run is queued with them settled, and only the remainder is executed."""
    part: Part | None = None
    """Part of the flow to execute; None: all of it. Not together with `reuse`."""
    entry: Entry | None = None
    """Audit entry of the start. None for runs that no user started."""
    once: StartKey | None = None
    """The idempotency key of the request that starts it."""
    visitor: str | None = None
    """Digest of the network address of the visitor who starts it."""
    bounds: tuple[Bound, ...] = ()
    """Quotas to check."""
    parent: Parent | None = None
    """The step that starts it, instead of a user."""
    deadline_seconds: float | None = None
    """Its deadline, where that is earlier than the one that the flow sets."""
    budget: Budget | None = None
    """Its budget, where that is less than the one that the flow sets."""
    priority: int | None = None
    """Its priority, instead of the one that the flow sets. The run of a step has that of the step's run."""
    handles: bool = False
    """Whether it handles the failure of another run."""
    inherited: Terms = NO_TERMS
    """What limits the run whose step starts it."""
    stops: Stops | None = None
    """Where it stops before steps. The runs of its steps do not."""
    trigger: Mapping[str, str | None] | None = None
    """The trigger and the occurrence that start it, stored with its input."""
    is_test: bool = False
    """Whether it is the run of a test case: it starts no other flow by triggers."""
    companions: tuple[Companion, ...] = ()
    """Rows of other features that are written with it."""

    @property
    def is_whole(self) -> bool:
        """Whether every step of the flow is executed."""
        return self.reuse is None and self.part is None

    @property
    def parent_run_id(self) -> str | None:
        """The run whose step starts it."""
        return None if self.parent is None else self.parent.run_id

    @property
    def starter(self) -> str | None:
        """The user or the visitor who starts it."""
        return self.user_id or self.visitor


@dataclass(frozen=True, slots=True)
class BackendHealth:
    """Whether runs can make progress; for readiness checks and metrics."""

    kind: str
    """`embedded` or `celery`."""
    broker: bool | None
    """Whether the broker responds; None without a broker."""
    results: bool | None
    """Whether the result backend responds; None without one."""
    workers: int
    """Workers seen alive; the embedded engine counts as one."""
    queue_depth: int
    """Messages, or runs, that wait for a worker. -1 when unknown."""
    problems: tuple[str, ...] = ()
    """Descriptions of the problems, for users; empty when there are none."""

    @property
    def ready(self) -> bool:
        """Whether a run that is started now will be executed."""
        return not self.problems


class ExecutionBackend(Protocol):
    """Starts, cancels and recovers runs. The conformance suite defines what every adapter must do."""

    @property
    def plans(self) -> Plans:
        """Plans of versions."""

    @property
    def services(self) -> Services:
        """Services that steps may use."""

    @property
    def store(self) -> RunStore:
        """The rows of runs."""

    @property
    def feed(self) -> EventFeed:
        """Source of the events of runs, whichever process executes them."""

    async def open(self) -> None:
        """Connect; recover what an earlier process left, if configured."""

    async def close(self) -> None:
        """Stop claiming steps, give running steps a moment to finish, leave the rest to be recovered."""

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run and schedule it. Once this returns, the run survives any crash.

        Raises `FlowInvalid`, `Unavailable`, or `SourceGone` when the results to reuse no longer exist; then no run
        is stored.
        """

    async def resume(self, key: RunKey, entry: Entry | None = None, once: StartKey | None = None) -> Resumed | None:
        """Resume a failed run on its own version (see `RunStore.resume`) and execute its remainder.

        Steps that dead workers left are ended first. Returns None when the tenant has no such run.
        """

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run; idempotent. Returns None when the tenant has no such run."""

    async def pause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Pause a run (see `RunStore.pause`). Returns None when the tenant has no such run."""

    async def unpause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Continue a paused run (see `RunStore.unpause`). Returns None when the tenant has no such run.

        A process that executes nothing else, such as a command, leaves it to the server.
        """

    async def wake_run(self, run_id: str) -> None:
        """Wake the steps of a run that are due now, before the next look for due steps."""

    async def wait(self, run_id: str) -> None:
        """Wait until the run is over."""

    async def recover(self) -> int:
        """Recover runs without a worker: queued ones, and steps of workers that died. Returns how many."""

    def drain(self, *, draining: bool, handing_over: bool) -> None:
        """Start and recover no runs here while `draining`; begin no step of its runs either while `handing_over`."""

    @property
    def working(self) -> int:
        """Runs that are executed in this process."""

    async def health(self) -> BackendHealth:
        """Report whether runs can make progress now. Returns within two seconds and raises nothing."""
