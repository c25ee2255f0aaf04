"""The component that calculates with dates."""

import calendar
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import JsonValue, PrivateAttr

from headgate.components.clock import current_time, zone
from headgate.components.data.holidays import holidays_in
from headgate.components.readers.calendar import MOST_BYTES
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Data, Text, field, output

Unit = Literal["seconds", "minutes", "hours", "days", "weeks", "months", "years", "business days"]
Operation = Literal["add", "subtract", "difference", "start of", "end of", "convert", "next business day"]
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}
MOST_DAYS = 4_000_000
"""Longest period, in days: the calendar has 3,652,059."""
MOST_YEARS = 20
"""Longest period for which recurring holidays of a calendar are read."""
MARGIN_DAYS = 60
"""Days around a period for which holidays are read, in addition to one for each business day."""


class BusinessDays:
    """Counts Monday to Friday without holidays.

    Args:
        holidays: Days that are no business days; those on weekends do not matter.
    """

    def __init__(self, holidays: Iterable[date] = ()) -> None:
        self._holidays = sorted({day.toordinal() for day in holidays if day.weekday() < 5})

    def until(self, ordinal: int) -> int:
        """Return the business days from 0001-01-01, a Monday, to the day of an ordinal."""
        weeks, rest = divmod(ordinal, 7)
        return weeks * 5 + min(rest, 5) - bisect_right(self._holidays, ordinal)

    def between(self, first: date, second: date) -> int:
        """Return the business days after the first day, up to and including the second; negative if that is before."""
        if second < first:
            return -self.between(second, first)
        return self.until(second.toordinal()) - self.until(first.toordinal())

    def later(self, moment: datetime, amount: int) -> datetime:
        """Return the moment so many business days later. Raises `ValueError`, `OverflowError` out of the calendar.

        Another day counts as the business day before it; backwards as the one after it.
        """
        day = moment.toordinal()
        return self._moved(moment, self.until(day if amount >= 0 else day - 1) + amount + (amount < 0))

    def next(self, moment: datetime) -> datetime:
        """Return the moment on its day, if that is a business day, else on the next one."""
        return self._moved(moment, self.until(moment.toordinal() - 1) + 1)

    def _moved(self, moment: datetime, number: int) -> datetime:
        """Return the moment on the business day of a number, counted from 0001-01-01."""
        if number < 1:
            raise ValueError("before the first business day")
        ordinal = bisect_left(range(date.max.toordinal() + 1), number, key=self.until)
        return moment + timedelta(days=ordinal - moment.toordinal())


class DateMath(Component):
    """Calculates with dates and times: adds and subtracts periods, counts between dates, converts time zones."""

    label = "Date calculation"
    category = "data"
    icon = "calendar-days"
    keywords = (
        "date", "time", "add days", "yesterday", "tomorrow", "subtract", "difference", "days between",
        "business days", "working days",
        "deadline", "due date", "age", "start of month", "end of month", "timezone", "convert", "months", "weeks",
    )  # fmt: skip

    date: str = field(
        default="",
        label="Date",
        help="ISO 8601 date or time, such as 2027-01-31 or 2027-01-31T09:00+01:00; empty is now.",
        main=True,
        tool_mode=True,
        max_length=100,
    )
    operation: Operation = field(
        default="add",
        label="Operation",
        help="What to calculate; the next business day is the date itself, if it is one.",
        port=False,
        tool_mode=True,
    )
    amount: int = field(
        default=1,
        label="Amount",
        help="How many units to add or subtract.",
        ge=-MOST_DAYS,
        le=MOST_DAYS,
        tool_mode=True,
    )
    unit: Unit = field(
        default="days",
        label="Unit",
        help="Of the amount, of the difference, or of the start and end; business days: Monday to Friday, no holidays.",
        port=False,
        tool_mode=True,
    )
    other: str = field(
        default="",
        label="Other date",
        help="For the difference: the later date; empty is now.",
        tool_mode=True,
        max_length=100,
    )
    timezone: str = field(
        default="UTC",
        label="Time zone",
        help="Of dates without one, and of the result: an IANA name, for example Europe/Stockholm.",
        port=False,
        tool_mode=True,
        max_length=100,
    )
    holidays: str = field(
        default="",
        label="Holidays",
        help="Days that are no business days: dates such as 2027-12-24, or the text of a calendar (ICS), whose all-day "
        "events they are.",
        max_length=MOST_BYTES,
    )
    _result: datetime | float | None = PrivateAttr(default=None)

    @output(help="The date as ISO 8601 (only the day when the input has no time), or the difference as a number.")
    async def text(self) -> Text:
        """Return the result as text."""
        result = await self._calculate()
        if isinstance(result, datetime):
            return result.date().isoformat() if self._is_day() else result.isoformat(timespec="seconds")
        return str(_number(result))

    @output(help="For a date: iso, date, time, year, month, day, weekday, week and timestamp. Otherwise the number.")
    async def data(self) -> Data:
        """Return the result as data."""
        result = await self._calculate()
        if isinstance(result, datetime):
            return _members(result)
        return _number(result)

    async def _calculate(self) -> datetime | float:
        if self._result is None:
            here = zone(self.timezone or "UTC", of="DateMath")
            first = parsed_moment(self.date, here, "date")
            second = parsed_moment(self.other, here, "other") if self.operation == "difference" else first
            days = BusinessDays()
            if self.holidays.strip() and (self.unit == "business days" or self.operation == "next business day"):
                days = BusinessDays(await _read_holidays(self, first, second))
            try:
                self._result = self._calculated(first, second, days)
            except (OverflowError, ValueError) as error:
                raise ComponentError(
                    "DateMath: the result is not between the years 1 and 9999.",
                    remedy="Use a smaller amount.",
                    field="amount",
                ) from error
        return self._result

    def _calculated(self, first: datetime, second: datetime, days: BusinessDays) -> datetime | float:
        match self.operation:
            case "difference" if self.unit == "business days":
                return float(days.between(first.date(), second.date()))
            case "difference":
                return _difference(first, second, self.unit)
            case "add" | "subtract":
                amount = self.amount if self.operation == "add" else -self.amount
                return days.later(first, amount) if self.unit == "business days" else _added(first, amount, self.unit)
            case "next business day":
                return days.next(first)
            case "start of":
                return _start(first, self.unit)
            case "end of":
                return _added(_start(first, self.unit), 1, _calendar_unit(self.unit)) - timedelta(seconds=1)
        return first

    def _is_day(self) -> bool:
        """Return whether the input is a day and the result has no time."""
        text = self.date.strip()
        has_time = len(text) > 10 or not text
        return not has_time and self.unit not in {"seconds", "minutes", "hours"}


async def _read_holidays(step: DateMath, first: datetime, second: datetime) -> Iterable[date]:
    """Return the holidays around everything that is counted. Raises `ComponentError`."""
    begin, end = sorted((first.date(), second.date()))
    amount = abs(step.amount) if step.operation in {"add", "subtract"} else 0
    margin = timedelta(days=2 * amount + MARGIN_DAYS)
    try:
        begin, end = begin - margin, end + margin
    except OverflowError:
        begin, end = date.min, date.max
    if end - begin > timedelta(days=366 * MOST_YEARS) and "BEGIN:VCALENDAR" in step.holidays.upper():
        raise ComponentError(
            f"DateMath: business days of more than {MOST_YEARS} years cannot be counted with a calendar.",
            remedy="Use a smaller amount, or write the dates of the holidays.",
            field="holidays",
        )
    return await holidays_in(step.ctx, step.holidays, begin, end, of="DateMath")


def parsed_moment(text: str, here: ZoneInfo, field_: str, *, of: str = "DateMath") -> datetime:
    """Return a moment in a time zone; the current time for an empty text. Raises `ComponentError`."""
    value = text.strip()
    if not value:
        return current_time().astimezone(here)
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=here) if moment.tzinfo is None else moment.astimezone(here)
    except (ValueError, OverflowError) as error:
        raise ComponentError(
            f"{of}: '{clipped(value, 60)}' is not a date or time.",
            remedy="Write it as 2027-01-31 or 2027-01-31T09:00+01:00.",
            field=field_,
        ) from error


def _added(moment: datetime, amount: int, unit: Unit) -> datetime:
    """Return the moment later by an amount: days and longer keep the local time, shorter units are exact."""
    if unit in {"seconds", "minutes", "hours"}:
        return (moment.astimezone(UTC) + timedelta(seconds=amount * _SECONDS[unit])).astimezone(moment.tzinfo)
    if unit in {"days", "weeks"}:
        return moment + timedelta(days=amount * (7 if unit == "weeks" else 1))
    months = moment.year * 12 + moment.month - 1 + amount * (12 if unit == "years" else 1)
    year, month = months // 12, months % 12 + 1
    return moment.replace(year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1]))


def _difference(first: datetime, second: datetime, unit: Unit) -> float:
    """Return how much later the second moment is: complete months and years, else a decimal."""
    if unit in {"months", "years"}:
        early, late, sign = (first, second, 1) if second >= first else (second, first, -1)
        months = (late.year - early.year) * 12 + late.month - early.month
        months -= _added(early, months, "months") > late
        return float(sign * (months // 12 if unit == "years" else months))
    if unit in {"days", "weeks"}:  # by the calendar: a day with a change of the clock is one day
        naive = second.replace(tzinfo=None) - first.astimezone(second.tzinfo).replace(tzinfo=None)
        return naive.total_seconds() / _SECONDS[unit]
    return (second.astimezone(UTC) - first.astimezone(UTC)).total_seconds() / _SECONDS[unit]


def _calendar_unit(unit: Unit) -> Unit:
    return "days" if unit == "business days" else unit


def _start(moment: datetime, unit: Unit) -> datetime:
    midnight = datetime.combine(moment.date(), time(), moment.tzinfo)
    starts: dict[str, Callable[[], datetime]] = {
        "seconds": lambda: moment.replace(microsecond=0),
        "minutes": lambda: moment.replace(second=0, microsecond=0),
        "hours": lambda: moment.replace(minute=0, second=0, microsecond=0),
        "weeks": lambda: midnight - timedelta(days=moment.weekday()),
        "months": lambda: midnight.replace(day=1),
        "years": lambda: midnight.replace(month=1, day=1),
    }
    return starts.get(unit, lambda: midnight)()


def _members(moment: datetime) -> dict[str, JsonValue]:
    return {
        "iso": moment.isoformat(timespec="seconds"),
        "date": moment.date().isoformat(),
        "time": moment.strftime("%H:%M:%S"),
        "year": moment.year,
        "month": moment.month,
        "day": moment.day,
        "weekday": calendar.day_name[moment.weekday()],
        "week": moment.isocalendar().week,
        "timestamp": int(moment.timestamp()),
    }


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() else value
