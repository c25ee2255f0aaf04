"""Components for calendars."""

import hashlib
from datetime import date, datetime, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from pydantic import JsonValue, PrivateAttr

from headgate.components.clock import current_time, zone
from headgate.components.data.dates import parsed_moment
from headgate.components.files.file_names import safe_name
from headgate.components.isolated import CALENDAR_EVENTS
from headgate.components.isolated.calls import QUERY_SECONDS, call_isolated
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.sdk import Component, ComponentError, File, Table, field, output

MOST_EVENTS = 1_000


class ReadCalendar(Component):
    """Reads the events of a calendar (iCalendar, .ics) in a period; recurring events are expanded."""

    label = "Read calendar"
    category = "data"
    icon = "calendar-search"
    needs_extra = "calendars"
    keywords = (
        "ics", "ical", "icalendar", "events", "meetings", "appointments", "agenda", "schedule", "recurring",
        "outlook", "google calendar", "free busy",
    )  # fmt: skip

    text: str = field(label="Calendar", help="iCalendar text, such as the text of an HTTP request.", main=True)
    begin: str = field(
        default="", name="from", label="From", help="Start of the period, ISO 8601; empty is now.", max_length=100
    )
    end: str = field(
        default="",
        name="to",
        label="To",
        help="End of the period, ISO 8601; empty is 30 days after its start.",
        max_length=100,
    )
    timezone: str = field(
        default="UTC",
        label="Time zone",
        help="Of the period and of the result: an IANA name, for example Europe/Stockholm.",
        port=False,
        max_length=100,
    )
    _events: Table | None = PrivateAttr(default=None)

    @output(
        help="One row per event: summary, start, end, all_day, location, description, organizer, attendees, status "
        "and uid."
    )
    async def events(self) -> Table:
        """Return the events, in order of their start."""
        if self._events is None:
            here = zone(self.timezone or "UTC", of="ReadCalendar")
            begin = parsed_moment(self.begin, here, "from", of="ReadCalendar")
            end = (
                parsed_moment(self.end, here, "to", of="ReadCalendar")
                if self.end.strip()
                else begin + timedelta(days=30)
            )
            if end <= begin:
                raise ComponentError("ReadCalendar: the period ends before it starts.", field="to")
            arguments: dict[str, JsonValue] = {
                "text": self.text,
                "begin": begin.isoformat(),
                "end": end.isoformat(),
                "zone": here.key,
            }
            result = await call_isolated(
                self.ctx, CALENDAR_EVENTS, arguments, "ReadCalendar: the calendar", 2 * QUERY_SECONDS
            )
            self._events = Table.model_validate(result)
        return self._events


class CreateCalendar(Component):
    """Writes events to a calendar file (.ics) that calendar programs import."""

    label = "Create calendar"
    category = "output"
    icon = "calendar-plus"
    effect = True
    needs_extra = "calendars"
    keywords = (
        "ics", "ical", "icalendar", "event", "meeting", "appointment", "invite", "schedule", "outlook",
        "google calendar", "reminder",
    )  # fmt: skip

    events: Table = field(
        label="Events",
        help="Columns summary, start, and optionally end, minutes, location, description. A start without a time is "
        "an all-day event.",
        main=True,
    )
    timezone: str = field(
        default="UTC",
        label="Time zone",
        help="Of times without one: an IANA name, for example Europe/Stockholm.",
        port=False,
        max_length=100,
    )
    name: str = field(
        default="calendar.ics", label="File name", help="With the extension .ics.", port=False, max_length=1000
    )

    @output(help="The calendar file.")
    async def file(self) -> File:
        """Write the calendar, then store it. Every attempt of the run writes the same ids of events."""
        here = zone(self.timezone or "UTC", of="CreateCalendar")
        if len(self.events.rows) > MOST_EVENTS:
            raise ComponentError(f"CreateCalendar: more than {MOST_EVENTS} events.", remedy="Write fewer.")
        seed = f"{self.ctx.run_id}/{self.ctx.node_id}"
        content = await run_in_flow_thread(_calendar, self.events.records(), here, seed, current_time())
        name = safe_name(self.name, default="calendar.ics")
        name = name if name.lower().endswith(".ics") else f"{name}.ics"
        await self.ctx.check_cancelled()
        return await self.ctx.files.save(name, content, "text/calendar")


def _calendar(records: list[dict[str, JsonValue]], here: ZoneInfo, seed: str, now: datetime) -> bytes:
    import icalendar  # noqa: PLC0415 - an optional library

    book = icalendar.Calendar()
    book.add("prodid", "-//Headgate//headgate.dev//EN")
    book.add("version", "2.0")
    for number, record in enumerate(records, start=1):
        start, end = _period(record, here, number)
        event = icalendar.Event()
        event.add("uid", hashlib.sha256(f"{seed}/{number}".encode()).hexdigest()[:32] + "@headgate")
        event.add("dtstamp", now)
        event.add("dtstart", start)
        event.add("dtend", end)
        for name in ("summary", "location", "description"):
            if record.get(name):
                event.add(name, str(record[name]))
        book.add_component(event)
    book.add_missing_timezones()
    return cast("bytes", book.to_ical())


def _period(record: dict[str, JsonValue], here: ZoneInfo, number: int) -> tuple[date, date]:
    """Return start and end of an event: one hour, or one day, without an end. Raises `ComponentError`."""
    start_text, end_text = (str(record.get(name) or "").strip() for name in ("start", "end"))
    if not start_text:
        raise ComponentError(f"CreateCalendar: row {number} has no start.", remedy="Fill the column 'start'.")
    start = parsed_moment(start_text, here, "events", of=f"CreateCalendar: row {number}")
    is_day = len(start_text) == 10
    minutes = record.get("minutes")
    if end_text:
        end = parsed_moment(end_text, here, "events", of=f"CreateCalendar: row {number}")
    elif isinstance(minutes, int | float) and not is_day:
        end = start + timedelta(minutes=min(float(minutes), 60 * 24 * 366))
    else:
        end = start + (timedelta(days=1) if is_day else timedelta(hours=1))
    if end <= start and not (is_day and end == start):
        raise ComponentError(f"CreateCalendar: row {number} ends before it starts.", remedy="Check 'end'.")
    if is_day:
        last = end.date() + timedelta(days=1) if end_text and len(end_text) == 10 else end.date()
        return start.date(), max(last, start.date() + timedelta(days=1))
    return start, end
