"""The port to whatever carries runs out: the embedded engine in the server, workers behind a queue elsewhere."""

from dataclasses import dataclass
from typing import Protocol

from headgate.features.runs.ports import Services
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Cancelled, RunKey
from headgate.sdk import RunInput


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run to start: pinned to a version, its input checked."""

    key: RunKey
    input: RunInput
    user_id: str | None = None
    session_id: str | None = None


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
    def epoch(self) -> str:
        """Names this process's event numbers: they count from 1 again in another."""
        ...

    async def open(self) -> None:
        """Get ready; take up what an earlier process left, if so set."""
        ...

    async def close(self) -> None:
        """Stop taking steps, give those at work a moment, leave the rest to be recovered."""
        ...

    async def start(self, request: RunRequest) -> RunStatus:
        """Write the run down and see to it that it runs. Once this returns the run survives any crash.

        Raises `FlowInvalid` or `Unavailable`, and then there is no run.
        """
        ...

    async def cancel(self, run_id: str, tenant_id: str) -> Cancelled | None:
        """End a run; idempotent. None when the tenant has no such run."""
        ...

    async def wait(self, run_id: str) -> None:
        """Return once the run is over."""
        ...

    async def recover(self) -> int:
        """Take up runs that nobody works on: queued ones, and steps of workers that died. Returns how many."""
        ...
