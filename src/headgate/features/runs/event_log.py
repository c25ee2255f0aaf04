"""Rows of the event log of runs, as values. `events` lists their kinds and data."""

from dataclasses import dataclass
from typing import Any

from headgate.features.runs.transitions import RunKey


@dataclass(frozen=True, slots=True)
class RunEvent:
    """A row of a run's event log."""

    seq: int
    """Counts from 1 in each run, without gaps."""
    kind: str
    step_id: str | None
    attempt: int | None
    at: int
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events of a run, and the state of the run at the same moment."""

    key: RunKey
    resumes: int
    last: int
    """The number of the last event of the run."""
    events: tuple[RunEvent, ...]
