"""Handled failures as values."""

from dataclasses import dataclass
from enum import StrEnum

from headgate.features.runs.transitions import RunKey


class HandlerStatus(StrEnum):
    """Status of the handler of a failed run."""

    DUE = "due"
    STARTED = "started"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A failed run whose handler is to be started, and the facts that it is started with."""

    key: RunKey
    handler_run_id: str
    handler: RunKey | None
    """The published version of its handler, without a run id; None when there is none."""
    handler_name: str
    """As the settings of the flow name it."""
    flow_name: str
    user_id: str | None
    visitor: str | None
    code: str
    message: str
    step_id: str
    attempt: int
    link: str
    """Address of the failed run's page; a path where the server has no public address."""
    created_at: int

    def facts(self) -> dict[str, str | int]:
        """Return the facts as answers to a form."""
        return {
            "run_id": self.key.run_id,
            "flow_id": self.key.flow_id,
            "flow": self.flow_name,
            "version": self.key.version,
            "step": self.step_id,
            "code": self.code,
            "message": self.message,
            "attempt": self.attempt,
            "link": self.link,
        }


@dataclass(frozen=True, slots=True)
class HandlerLink:
    """How a run and the handler of its failure are linked."""

    run_id: str
    """The other run."""
    flow_id: str | None
    """Its flow; None for a handler that was not started."""
    status: HandlerStatus
    problem: str | None
    """Why the handler was not started."""
