"""Calendars."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from headgate.components.readers.calendar import COLUMNS, read_calendar
from headgate.components.readers.document import Unreadable

STOCKHOLM = ZoneInfo("Europe/Stockholm")
HEAD = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n"
WEEKLY = """BEGIN:VEVENT
UID:w
DTSTART;TZID=Europe/Stockholm:20270322T090000
DTEND;TZID=Europe/Stockholm:20270322T100000
RRULE:FREQ=WEEKLY
EXDATE;TZID=Europe/Stockholm:20270405T090000
SUMMARY:Standup\\, weekly
LOCATION:Room 2
ORGANIZER:mailto:bo@example.org
ATTENDEE:mailto:asa@example.org
END:VEVENT
"""
DAY = "BEGIN:VEVENT\nUID:d\nDTSTART;VALUE=DATE:20270324\nSUMMARY:Holiday\nEND:VEVENT\n"
EVERY_SECOND = "BEGIN:VEVENT\nUID:s\nDTSTART:20270322T000000Z\nRRULE:FREQ=SECONDLY\nSUMMARY:s\nEND:VEVENT\n"


def read(*events: str, begin: str = "2027-03-22", end: str = "2027-04-13") -> list[dict[str, object]]:
    text = HEAD + "".join(events) + "END:VCALENDAR\n"
    start, stop = (datetime.fromisoformat(day).replace(tzinfo=STOCKHOLM) for day in (begin, end))
    return read_calendar(text, begin=start, end=stop, zone=STOCKHOLM).records()  # type: ignore[return-value]


class TestReadCalendar:
    def test_expands_recurrences_over_a_change_of_the_clock(self) -> None:
        assert [row["start"] for row in read(WEEKLY)] == [
            "2027-03-22T09:00:00+01:00",
            "2027-03-29T09:00:00+02:00",
            "2027-04-12T09:00:00+02:00",
        ]

    def test_gives_what_an_event_has(self) -> None:
        first, second = read(DAY, WEEKLY, end="2027-03-25")
        assert list(first) == COLUMNS
        assert (first["summary"], first["organizer"], first["attendees"]) == (
            "Standup, weekly",
            "bo@example.org",
            ["asa@example.org"],
        )
        assert (second["summary"], second["start"], second["all_day"]) == ("Holiday", "2027-03-24", True)

    def test_gives_only_the_period(self) -> None:
        assert read(WEEKLY, begin="2027-03-23", end="2027-03-29") == []

    def test_refuses_too_many(self) -> None:
        with pytest.raises(Unreadable, match="more than 5000 events"):
            read(EVERY_SECOND)

    @pytest.mark.parametrize("text", ["", "no", "BEGIN:VEVENT\nEND:VEVENT\n", "BEGIN:VCALENDAR\n"])
    def test_refuses_what_is_none(self, text: str) -> None:
        now = datetime.now(UTC)
        with pytest.raises(Unreadable):
            read_calendar(text, begin=now, end=now, zone=UTC)
