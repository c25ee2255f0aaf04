"""What schedules will fire, soonest first; due times of frequent schedules are folded into one entry. It blocks."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from headgate.features.runs.transitions import clock
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND, Schedule
from headgate.features.triggers.schemas import AgendaEntry
from headgate.features.triggers.views import firing_out
from headgate.features.triggers.words import schedule_of_row
from headgate.foundation.database import moment

LONGEST_GAP = 30 * 60 * SECOND
"""Due times that are further apart are not folded."""
FEWEST = 4
"""Due times in a row that are folded."""
MOST = 1_440
"""Due times of one entry: every minute of a day."""
MOST_COMPUTED = 50_000
"""Due times of one folded agenda, the soonest of all triggers; it ends there."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A due time, or several with the same gap. Times are microseconds in UTC."""

    at: int
    last: int
    count: int = 1


def agenda_of(rows: Sequence[Listed], until: int, limit: int, *, fold: bool = False) -> list[AgendaEntry]:
    """Return what schedules fire until a time (microseconds), soonest first.

    With `fold`, due times of a trigger that follow each other at the same gap on one day are one entry.
    """
    enabled = [(listed, schedule_of_row(listed.row)) for listed in rows if listed.row.enabled]

    def moments(position: int) -> Iterator[tuple[int, str, int]]:
        listed, schedule = enabled[position]
        for at in takewhile(lambda at: at <= until, schedule.moments(max(listed.row.cursor_at, clock()))):
            yield at, listed.row.id, position

    soonest = heapq.merge(*(moments(position) for position in range(len(enabled))))
    if not fold:
        return [_entry(_Due(at, at), *enabled[position]) for at, _, position in islice(soonest, limit)]
    times: dict[int, list[int]] = {}
    for at, _, position in islice(soonest, MOST_COMPUTED):
        times.setdefault(position, []).append(at)
    dues = [
        (due.at, enabled[position][0].row.id, due, position)
        for position, row in times.items()
        for due in _folded(row, enabled[position][1])
    ]
    return [_entry(due, *enabled[position]) for _, _, due, position in sorted(dues, key=lambda due: due[:2])[:limit]]


def _entry(due: _Due, listed: Listed, schedule: Schedule) -> AgendaEntry:
    gap = (due.last - due.at) / SECOND / (due.count - 1) if due.count > 1 else None
    return AgendaEntry(
        **firing_out(schedule, due.at).model_dump(),
        trigger_id=listed.row.id,
        trigger_name=listed.row.name,
        flow_id=listed.row.flow_id,
        flow_name=listed.flow_name,
        count=due.count,
        until=moment(due.last) if due.count > 1 else None,
        every_seconds=gap,
    )


def _folded(moments: Iterable[int], schedule: Schedule) -> Iterator[_Due]:
    """Fold due times at the same gap on one day of the schedule's zone; those of nights of clock changes stay."""
    row: list[int] = []
    for at in moments:
        if row and not _continues(row, at, schedule):
            yield from _closed(row)
            row = []
        row.append(at)
    yield from _closed(row)


def _continues(row: Sequence[int], at: int, schedule: Schedule) -> bool:
    gap = at - row[-1]
    if gap > LONGEST_GAP or len(row) == MOST or (len(row) > 1 and gap != row[-1] - row[-2]):
        return False
    days = [moment(time).astimezone(schedule.zone) for time in (row[-1], at)]
    return days[0].date() == days[1].date() and not schedule.notes(at)


def _closed(row: Sequence[int]) -> Iterator[_Due]:
    if len(row) >= FEWEST:
        yield _Due(row[0], row[-1], len(row))
    else:
        yield from (_Due(at, at) for at in row)
