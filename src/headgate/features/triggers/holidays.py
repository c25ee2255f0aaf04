"""The days of the all-day events of a calendar (ICS): holidays, on which a schedule does not fire."""

import asyncio
from collections.abc import Iterable
from datetime import date, timedelta

from headgate.components.data.holidays import calendar_days
from headgate.components.isolated.calls import Isolation
from headgate.components.web.requests import HTTPRequest
from headgate.features.triggers.errors import ScheduleInvalid
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.schedule import MOST_HOLIDAYS
from headgate.features.triggers.settings import ScheduleConfig
from headgate.foundation.database import now
from headgate.foundation.errors import UpstreamFailed

YEARS = 5
"""How far ahead the days are read."""
SECONDS = 30.0
"""For a calendar from an address; a due time may be this late, which is within the grace of the scheduler."""


async def holidays_of(ctx: Isolation, calendar: str) -> list[date]:
    """Return the days of the all-day events from a month ago to in some years, sorted.

    Raises `ExtraNotInstalled`, `Unreadable`, `ScheduleInvalid` when it has none or too many.
    """
    begin = now().date() - timedelta(days=31)
    end = begin + timedelta(days=366 * YEARS)
    days = await calendar_days(ctx, calendar, begin, end, subject="The calendar of a schedule")
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
