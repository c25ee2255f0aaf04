"""Appends to the event log of a run on one SQLite connection, in the transaction of the change."""

import sqlite3
from collections.abc import Sequence

Event = tuple[str, str | None, int | None, str | None]
"""Kind, step, attempt, data as JSON."""
RESUMED: Event = ("run_started", None, None, '{"resumed":true}')

_INSERT = (
    "INSERT INTO flow_run_events (flow_run_id, seq, kind, step_id, attempt, at, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ALLOCATE = "UPDATE flow_runs SET last_event = last_event + ? WHERE id = ? RETURNING last_event"


def append_events(db: sqlite3.Connection, run_id: str, events: Sequence[Event], at: int) -> None:
    """Assign the next numbers of the run to the events and insert them."""
    if events:
        last: int = db.execute(_ALLOCATE, (len(events), run_id)).fetchone()[0]
        write_events(db, run_id, last - len(events) + 1, events, at)


def write_events(db: sqlite3.Connection, run_id: str, first: int, events: Sequence[Event], at: int) -> None:
    """Insert events whose numbers, from `first` on, the run's row already includes."""
    db.executemany(
        _INSERT,
        [
            (run_id, first + offset, kind, step, attempt, at, data)
            for offset, (kind, step, attempt, data) in enumerate(events)
        ],
    )
