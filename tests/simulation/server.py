"""A simulated process with an engine in it, and what ends a simulation."""

import contextvars
from dataclasses import dataclass, field

from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.foundation.database import Database
from headgate.foundation.events import EventBus
from tests.simulation.cluster import ClusterEngine
from tests.simulation.loop import CURRENT, Process


class Violation(Exception):
    """Something happened that never may."""


@dataclass(eq=False)
class Server:
    """A process with an engine in it."""

    number: int
    process: Process
    engine: EmbeddedBackend | ClusterEngine
    worker: Worker
    bus: EventBus
    database: Database
    """Its sessions."""
    jobs: JobRunner | None = None
    """What sends notices, in plans with some."""
    disturbed: list[tuple[float, float]] = field(default_factory=list)
    """When something went wrong around it, from and until."""
    serving: bool = False

    @property
    def answers(self) -> bool:
        """Whether it can be asked for something."""
        return self.process.alive and self.serving


@dataclass
class Outcome:
    """What a simulation came to."""

    violation: str = ""
    trace: list[str] = field(default_factory=list)
    callbacks: int = 0
    """Callbacks that were run."""
    seconds: float = 0.0
    """Simulated time."""
    runs: int = 0
    deaths: int = 0
    suspended: int = 0
    """Attempts that ended to wait without a worker."""


def context_of(process: Process) -> contextvars.Context:
    """The context of what runs in a process."""
    context = contextvars.copy_context()
    context.run(CURRENT.set, process)
    return context
