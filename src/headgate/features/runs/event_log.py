"""Rows of the event log of runs, as values. `events` lists event kinds and their data."""

from dataclasses import dataclass
from typing import Any

from headgate.features.runs.transitions import RunKey


@dataclass(frozen=True, slots=True)
class RunEvent:
    """A row of a run's event log."""

    seq: int
    """Sequence number within the run, from 1, without gaps."""
    kind: str
    step_id: str | None
    attempt: int | None
    at: int
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events of a run, and its state at the same moment."""

    key: RunKey
    resumes: int
    last: int
    """Number of the run's last event."""
    events: tuple[RunEvent, ...]
