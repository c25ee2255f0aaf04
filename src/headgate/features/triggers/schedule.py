"""Moments of a schedule: cron in a time zone, or a true interval. Pure: no clock and no database.

A fixed time of day that the change to summer time skips runs at the end of the gap; one that the change back repeats
runs once, the first time. Times that repeat within the hour (`*` or `*/15` in the minutes, or several seconds)
follow real time: they skip the missing hour and run in both repeated ones.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headgate.features.triggers.cron import Cron, CronSimError
from headgate.features.triggers.errors import ScheduleInvalid
from headgate.foundation.database import microseconds, moment
from headgate.graph.names import clipped

SECOND = 1_000_000
MOST_HOLIDAYS = 1_000
Days = Literal["every", "business", "next_business"]
_DAY = timedelta(days=1)
_MOST_SKIPPED = 1_000
"""Days in a row without a due time on a business day: such a schedule has no further one."""
_GAP = timedelta(hours=3)
"""Longer than any change of a clock."""
_FIELDS = "minute, hour, day of month, month, day of week, for example 0 8 * * MON-FRI for 08:00 on working days"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A checked schedule. Times are microseconds in UTC.

    Args:
        zone: The time zone of `cron`.
        cron: Five fields, or six with seconds first. Either this or `every_seconds`.
        every_seconds: A true interval: moments are `anchor` plus multiples of it.
        anchor: Start of the interval.
        start: No moment is before it.
        end: No moment is after it.
        days: Of `cron`: `business` skips moments on Saturdays, Sundays and holidays of the zone; `next_business` moves
            them to the same time of the next business day, where each time counts once.
        holidays: Other days that are no business days.
        jitter_seconds: Each moment is started up to this much later, always the same for one moment, and before the
            next one is due.
    """

    zone: ZoneInfo
    cron: str | None = None
    every_seconds: int | None = None
    anchor: int = 0
    start: int | None = None
    end: int | None = None
    jitter_seconds: int = 0
    days: Days = "every"
    holidays: frozenset[date] = frozenset()

    def moments(self, after: int) -> Iterator[int]:
        """Return the due times after a time, strictly ascending; infinite unless the schedule ends."""
        begin = after if self.start is None else max(after, self.start - 1)
        for at in self._ticks(begin):
            if self.end is not None and at > self.end:
                return
            yield at

    def next(self, after: int) -> int | None:
        """Return the first due time after a time; None when there is none."""
        return next(self.moments(after), None)

    def begins(self, at: int, trigger_id: str) -> int:
        """Return when a due time is started: with its jitter, which depends only on trigger and time."""
        if not self.jitter_seconds:
            return at
        digest = hashlib.sha256(f"{trigger_id} {at}".encode()).digest()
        latest, following = self.jitter_seconds * SECOND, self.next(at)
        if following is not None:  # otherwise a later moment could begin earlier, and this one would pass for missed
            latest = min(latest, following - at)
        return at + int.from_bytes(digest[:8], "big") % latest

    def _ticks(self, after: int) -> Iterator[int]:
        if self.every_seconds is not None:
            step = self.every_seconds * SECOND
            at = self.anchor if after < self.anchor else self.anchor + ((after - self.anchor) // step + 1) * step
            while True:
                yield at
                at += step
        last = after
        ticks = {"every": self._of_cron, "business": self._on_business_days, "next_business": self._moved}[self.days]
        try:
            for tick in ticks(after):
                at = microseconds(tick)
                if at > last:
                    last = at
                    yield at
        except OverflowError:  # the end of the calendar
            return

    def _on_business_days(self, after: int) -> Iterator[datetime]:
        skipped = 0
        while skipped < _MOST_SKIPPED:
            for tick in self._of_cron(after):
                day = tick.astimezone(self.zone).date()
                if self._is_closed(day):
                    after = microseconds(self._begin(self._open_from(day))) - 1
                    skipped += 1
                    break
                skipped = 0
                yield tick
            else:
                return

    def _moved(self, after: int) -> Iterator[datetime]:
        first = moment(after).astimezone(self.zone).date()
        while self._is_closed(first - _DAY):  # what was due on these days is moved to a time that may be after it
            first -= _DAY
        for tick in self._of_cron(min(after, microseconds(self._begin(first)) - 1)):
            local = tick.astimezone(self.zone)
            if self._is_closed(local.date()):
                wall = datetime.combine(self._open_from(local.date()), local.time(), self.zone)
                yield _after_gap(wall) if _is_missing(wall) else wall.astimezone(UTC)
            else:
                yield tick

    def _is_closed(self, day: date) -> bool:
        return day.weekday() >= 5 or day in self.holidays

    def _open_from(self, day: date) -> date:
        while self._is_closed(day):
            day += _DAY
        return day

    def _begin(self, day: date) -> datetime:
        return datetime.combine(day, datetime.min.time(), self.zone).astimezone(UTC)

    def _of_cron(self, after: int) -> Iterator[datetime]:
        cron, later = _without_seconds(self.cron or "")
        for local in Cron(cron, (moment(after) - later).astimezone(self.zone)):
            yield local.astimezone(UTC) + later

    def notes(self, at: int) -> "list[ClockNote]":
        """Return what a change of the clocks does to a due time; empty for an ordinary one."""
        cron, later = _without_seconds(self.cron or "")
        if not _is_fixed_time(cron):
            return []
        at -= later // timedelta(microseconds=1)
        local = moment(at).astimezone(self.zone)
        naive = local.replace(tzinfo=None)
        notes: list[ClockNote] = []
        for wall in Cron(cron, naive - _GAP - timedelta(seconds=1)):
            if wall > naive:
                break
            written = wall.replace(tzinfo=self.zone)
            if _is_missing(written) and microseconds(_after_gap(written)) == at:
                notes.append(ClockNote("missing", wall, local))
        if not notes and local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset():
            notes.append(ClockNote("repeated", naive, local))
        return notes


@dataclass(frozen=True, slots=True)
class ClockNote:
    """A due time on a night in which the clocks change."""

    kind: str
    """`missing`: the written time does not exist that day. `repeated`: it exists twice."""
    written: datetime
    """The local time as the schedule has it."""
    runs: datetime
    """When it runs."""

    def sentence(self) -> str:
        """Return it in words."""
        day, clock = f"{self.written:%Y-%m-%d}", f"{self.written:%H:%M}"
        if self.kind == "missing":
            return f"{clock} does not exist on {day}: runs at {self.runs:%H:%M}"
        return f"{clock} occurs twice on {day}: runs once, the first time"


def checked_zone(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name. Raises `ScheduleInvalid`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ScheduleInvalid(
            f"There is no time zone '{clipped(name)}'.", remedy="Use an IANA name, for example Europe/Stockholm."
        ) from None


def checked_cron(text: str) -> str:
    """Return a cron expression of five fields, or six with seconds first. Raises `ScheduleInvalid`."""
    parts = text.split()
    if len(parts) not in {5, 6}:
        raise ScheduleInvalid(
            f"'{clipped(text)}' has {len(parts)} fields; a cron expression has 5, or 6 with seconds first.",
            remedy=f"Write {_FIELDS}.",
        )
    try:
        simulation = Cron(" ".join(parts), datetime(2026, 1, 1))  # noqa: DTZ001 - it reads the fields, no time
        next(simulation)
    except CronSimError as error:
        reason = str(error).removeprefix("Bad ").replace("-", " ")
        raise ScheduleInvalid(
            f"'{clipped(text)}' is not a cron expression: its {reason} is not valid.",
            remedy=f"Write {_FIELDS}. L is the last day, 15W the weekday nearest to the 15th, MON#2 the second Monday,"
            " 5L the last Friday.",
        ) from error
    except StopIteration as error:
        raise ScheduleInvalid(f"'{clipped(text)}' never comes.", remedy="Choose a date that exists.") from error
    return " ".join(parts)


def _without_seconds(cron: str) -> tuple[str, timedelta]:
    """Return an expression with one fixed second as five fields, which define the nights of clock changes, and it."""
    first, _, rest = cron.partition(" ")
    if len(cron.split()) == 6 and first.isascii() and first.isdecimal():
        return rest, timedelta(seconds=int(first))
    return cron, timedelta()


def _is_fixed_time(cron: str) -> bool:
    parts = cron.split()
    return len(parts) == 5 and not parts[0].startswith("*") and not parts[1].startswith("*")


def _is_missing(local: datetime) -> bool:
    return local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None)


def _after_gap(local: datetime) -> datetime:
    """Return the end of the gap in which a missing local time is, in UTC, searched by seconds of the gap."""
    before = local.replace(fold=0).utcoffset() or timedelta()
    later = local.replace(fold=1).utcoffset() or timedelta()
    # PEP 495: in a gap fold=0 has the offset before the change, fold=1 the one after it.
    low, high = (local.replace(tzinfo=None) - max(before, later)), (local.replace(tzinfo=None) - min(before, later))
    zone = local.tzinfo
    first = low.replace(tzinfo=UTC).astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        if middle.replace(tzinfo=UTC).astimezone(zone).utcoffset() == first:
            low = middle
        else:
            high = middle
    return high.replace(tzinfo=UTC)
