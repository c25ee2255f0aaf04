"""Reads calendars (iCalendar, RFC 5545), with recurring events expanded. Run it in a separate process."""

from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from itertools import islice
from typing import Any

from pydantic import JsonValue

from headgate.components.readers.document import Unreadable
from headgate.graph.names import clipped
from headgate.sdk import Table
from headgate.sdk.coerce import clean_text

MOST_EVENTS = 5_000
MOST_BYTES = 10_000_000
COLUMNS = ["summary", "start", "end", "all_day", "location", "description", "organizer", "attendees", "status", "uid"]


def read_calendar(text: str, *, begin: datetime, end: datetime, zone: tzinfo) -> Table:
    """Return the events of a calendar that overlap a period, in order of their start; each recurrence is a row.

    Args:
        text: The calendar.
        begin: Start of the period, with a time zone.
        end: End of the period.
        zone: Time zone of the returned times, and of times without one.

    Raises:
        Unreadable: It is no calendar, or has too many events in the period.
    """
    import icalendar  # noqa: PLC0415 - optional libraries
    import recurring_ical_events  # noqa: PLC0415

    if len(text) > MOST_BYTES:
        raise Unreadable(f"The calendar has {len(text)} characters; the limit is {MOST_BYTES}.")
    try:
        calendars = icalendar.Calendar.from_ical(text, multiple=True)
        rows: list[list[JsonValue]] = []
        for calendar in calendars:
            query = recurring_ical_events.of(calendar, skip_bad_series=True)
            events: Iterator[Any] = (event for event in query.after(begin))
            rows += _rows(events, end, zone)
    except Unreadable:
        raise
    except Exception as error:  # the error depends on where the calendar is damaged
        raise Unreadable(
            f"This is not a readable calendar: {clipped(str(error), 200)}.", remedy="Use iCalendar text (.ics)."
        ) from error
    if not calendars:
        raise Unreadable("This is not a calendar: it has no VCALENDAR.", remedy="Use iCalendar text (.ics).")
    rows.sort(key=lambda row: (str(row[1]), str(row[0])))
    return Table(columns=COLUMNS, rows=rows)


def _rows(events: Iterator[Any], end: datetime, zone: tzinfo) -> list[list[JsonValue]]:
    rows: list[list[JsonValue]] = []
    for event in islice(events, MOST_EVENTS + 1):
        if _aware(event.start, zone) >= end:
            return rows
        rows.append(_row(event, zone))
    if len(rows) > MOST_EVENTS:
        raise Unreadable(f"The period has more than {MOST_EVENTS} events.", remedy="Choose a shorter period.")
    return rows


def _row(event: Any, zone: tzinfo) -> list[JsonValue]:  # noqa: ANN401 - a lazily imported type
    start, end = event.start, event.end
    all_day = not isinstance(start, datetime)
    attendees = event.get("ATTENDEE") or []
    listed = attendees if isinstance(attendees, list) else [attendees]
    return [
        _text(event, "SUMMARY"),
        start.isoformat() if all_day else _aware(start, zone).isoformat(),
        end.isoformat() if all_day else _aware(end, zone).isoformat(),
        all_day,
        _text(event, "LOCATION"),
        _text(event, "DESCRIPTION"),
        _address(event.get("ORGANIZER")),
        [address for attendee in listed if (address := _address(attendee))],
        _text(event, "STATUS"),
        _text(event, "UID"),
    ]


def _aware(moment: date, zone: tzinfo) -> datetime:
    """Return a time in the zone; a date is its midnight there, a floating time is one of the zone."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=zone)
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)


def _text(event: Any, name: str) -> str | None:  # noqa: ANN401
    value = event.get(name)
    if isinstance(value, list):
        value = value[0] if value else None
    return None if value is None else clean_text(str(value))


def _address(value: Any) -> str | None:  # noqa: ANN401
    return None if value is None else clean_text(str(value)).removeprefix("mailto:").removeprefix("MAILTO:")
