"""Days that are no business days: written as dates, or the all-day events of a calendar (ICS)."""

import re
from datetime import date, timedelta

from pydantic import JsonValue

from headgate.components.isolated import CALENDAR_EVENTS
from headgate.components.isolated.calls import Isolation, call_isolated
from headgate.foundation.extras import require_extra
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Table

MOST_HOLIDAYS = 1_000
"""Days that can be written."""
_SECONDS = 20.0
_LONGEST_EVENT = 60


async def calendar_days(ctx: Isolation, calendar: str, begin: date, end: date, *, subject: str) -> set[date]:
    """Return the days of the all-day events of a calendar in a period.

    Raises `ExtraNotInstalled`, `Unreadable`.
    """
    require_extra("calendars", subject)
    arguments: dict[str, JsonValue] = {
        "text": calendar,
        "begin": f"{begin.isoformat()}T00:00:00+00:00",
        "end": f"{end.isoformat()}T00:00:00+00:00",
        "zone": "UTC",
    }
    table = Table.model_validate(await call_isolated(ctx, CALENDAR_EVENTS, arguments, subject, _SECONDS))
    return {day for record in table.records() if record["all_day"] for day in _days(record["start"], record["end"])}


async def holidays_in(ctx: Isolation, text: str, begin: date, end: date, *, of: str) -> frozenset[date]:
    """Return the days of a text: of a calendar in a period, or dates separated by spaces, commas or lines.

    Raises `ComponentError`, `ExtraNotInstalled`, `Unreadable`.
    """
    if "BEGIN:VCALENDAR" in text.upper():
        return frozenset(await calendar_days(ctx, text, begin, end, subject=f"{of}: the calendar"))
    words = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    if len(words) > MOST_HOLIDAYS:
        raise ComponentError(f"{of}: more than {MOST_HOLIDAYS} holidays.", remedy="Write fewer.", field="holidays")
    return frozenset(_day(word, of) for word in words)


def _day(word: str, of: str) -> date:
    try:
        return date.fromisoformat(word)
    except ValueError as error:
        raise ComponentError(
            f"{of}: '{clipped(word, 40)}' is no date of a holiday.",
            remedy="Write dates such as 2027-12-24, or the text of a calendar (ICS).",
            field="holidays",
        ) from error


def _days(start: JsonValue, end: JsonValue) -> list[date]:
    first, last = date.fromisoformat(str(start)), date.fromisoformat(str(end))
    return [first + timedelta(days=number) for number in range(min(max((last - first).days, 1), _LONGEST_EVENT))]
