"""The days of the all-day events of a calendar (ICS): holidays, on which a schedule does not fire."""

import asyncio
from collections.abc import Iterable
from datetime import date, timedelta

from pydantic import JsonValue

from headgate.components.isolated import CALENDAR_EVENTS
from headgate.components.isolated.calls import Isolation, call_isolated
from headgate.components.web.requests import HTTPRequest
from headgate.features.triggers.errors import ScheduleInvalid
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.schedule import MOST_HOLIDAYS
from headgate.features.triggers.settings import ScheduleConfig
from headgate.foundation.database import now
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.sdk import Table

YEARS = 5
"""How far ahead the days are read."""
SECONDS = 30.0
"""For a calendar from an address; a due time may be this late, which is within the grace of the scheduler."""
_SECONDS = 20.0
_LONGEST_EVENT = 60


async def holidays_of(ctx: Isolation, calendar: str) -> list[date]:
    """Return the days of the all-day events from a month ago to in some years, sorted.

    Raises `ExtraNotInstalled`, `Unreadable`, `ScheduleInvalid` when it has none or too many.
    """
    require_extra("calendars", "The calendar of a schedule")
    begin = now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=31)
    end = begin + timedelta(days=366 * YEARS)
    arguments: dict[str, JsonValue] = {
        "text": calendar,
        "begin": begin.isoformat(),
        "end": end.isoformat(),
        "zone": "UTC",
    }
    table = Table.model_validate(await call_isolated(ctx, CALENDAR_EVENTS, arguments, "The calendar", _SECONDS))
    days = {day for record in table.records() if record["all_day"] for day in _days(record["start"], record["end"])}
    if not days or len(days) > MOST_HOLIDAYS:
        raise ScheduleInvalid(
            f"The calendar has {len(days)} days with all-day events in the next {YEARS} years.",
            remedy=f"Choose a calendar with 1 to {MOST_HOLIDAYS} holidays.",
        )
    return sorted(days)


async def holidays_at(ctx: PollContext, url: str) -> list[date]:
    """Return those of the calendar at an address. Raises as `holidays_of`, and what the guarded client refuses."""
    try:
        async with asyncio.timeout(SECONDS):
            return await holidays_of(ctx, await ctx.reader(HTTPRequest, url=url).text())
    except TimeoutError as error:
        raise UpstreamFailed(
            f"The calendar was not read within {SECONDS:g} seconds.", remedy="Check its address."
        ) from error


def with_holidays(config: ScheduleConfig, days: Iterable[date]) -> ScheduleConfig:
    """Return a schedule with further holidays. Raises `ScheduleInvalid` for too many."""
    merged = sorted({*config.holidays, *days})
    if len(merged) > MOST_HOLIDAYS:
        raise ScheduleInvalid(f"A schedule has at most {MOST_HOLIDAYS} holidays.", remedy="Remove some of them.")
    return config.model_copy(update={"holidays": merged})


def _days(start: JsonValue, end: JsonValue) -> list[date]:
    first, last = date.fromisoformat(str(start)), date.fromisoformat(str(end))
    return [first + timedelta(days=number) for number in range(min(max((last - first).days, 1), _LONGEST_EVENT))]
