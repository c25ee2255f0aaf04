"""Calculating with dates, and writing calendars."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.data.calendars import CreateCalendar, ReadCalendar
from headgate.components.data.dates import BusinessDays, DateMath
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness

STOCKHOLM = {"timezone": "Europe/Stockholm"}


async def text(**values: Any) -> str:
    return str((await StepHarness().run(DateMath, values, outputs=["text"]))["text"])


class TestDateMath:
    @pytest.mark.parametrize(
        ("date", "amount", "unit", "expected"),
        [
            ("2027-01-31", 1, "months", "2027-02-28"),
            ("2024-02-29", 1, "years", "2025-02-28"),
            ("2027-01-31", -1, "months", "2026-12-31"),
            ("2027-01-31", 2, "weeks", "2027-02-14"),
            ("2027-01-29", 1, "business days", "2027-02-01"),
            ("2027-01-29", 10, "business days", "2027-02-12"),
            ("2027-01-30", 1, "business days", "2027-02-01"),
            ("2027-02-01", -1, "business days", "2027-01-29"),
            ("2027-01-31", -1, "business days", "2027-01-29"),
            ("2027-01-29T10:00", 90, "minutes", "2027-01-29T11:30:00+00:00"),
        ],
    )
    async def test_adds(self, date: str, amount: int, unit: str, expected: str) -> None:
        assert await text(date=date, amount=amount, unit=unit) == expected
        if unit not in {"months", "years", "business days"}:
            assert await text(date=expected, amount=amount, unit=unit, operation="subtract") in {
                date,
                f"{date}:00+00:00",
            }

    async def test_knows_the_change_of_the_clock(self) -> None:
        before = {"date": "2027-03-27T12:00", **STOCKHOLM}
        assert await text(**before, amount=1, unit="days") == "2027-03-28T12:00:00+02:00"
        assert await text(**before, amount=24, unit="hours") == "2027-03-28T13:00:00+02:00"

    @pytest.mark.parametrize(
        ("date", "other", "unit", "expected"),
        [
            ("2027-01-01", "2027-03-01", "days", "59"),
            ("2027-01-31", "2027-02-28", "months", "1"),
            ("2027-01-31", "2027-02-27", "months", "0"),
            ("2000-02-29", "2027-02-28", "years", "27"),
            ("2027-03-01", "2027-01-01", "months", "-2"),
            ("2027-01-29", "2027-02-02", "business days", "2"),
            ("2027-01-30", "2027-01-31", "business days", "0"),
            ("2027-01-01T00:00", "2027-01-01T01:30", "hours", "1.5"),
            ("2027-01-01T00:00:00", "2027-01-02T03:25:41", "minutes", "1645.6833333333334"),
        ],
    )
    async def test_counts(self, date: str, other: str, unit: str, expected: str) -> None:
        assert await text(date=date, other=other, unit=unit, operation="difference") == expected

    @pytest.mark.parametrize(
        ("operation", "unit", "expected"),
        [
            ("start of", "months", "2027-03-01"),
            ("end of", "months", "2027-03-31"),
            ("start of", "weeks", "2027-03-15"),
            ("end of", "years", "2027-12-31"),
            ("start of", "days", "2027-03-17"),
        ],
    )
    async def test_finds_starts_and_ends(self, operation: str, unit: str, expected: str) -> None:
        assert await text(date="2027-03-17", operation=operation, unit=unit) == expected

    async def test_converts(self) -> None:
        outputs = await StepHarness().run(DateMath, {"date": "2027-07-01T12:00Z", "operation": "convert", **STOCKHOLM})
        assert outputs["text"] == "2027-07-01T14:00:00+02:00"
        assert (outputs["data"]["weekday"], outputs["data"]["week"]) == ("Thursday", 26)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"date": "soon"}, "'soon' is not a date or time"),
            ({"date": "9999-12-31", "amount": 1}, "between the years 1 and 9999"),
            ({"date": "2027-01-01", "timezone": "Mars"}, "no time zone 'Mars'"),
        ],
    )
    async def test_says_what_is_wrong(self, values: dict[str, Any], message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            await text(**values)


CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;VALUE=DATE:20261225\r\n"
    "DTEND;VALUE=DATE:20261227\r\nRRULE:FREQ=YEARLY\r\nSUMMARY:Christmas\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:2\r\n"
    "DTSTART:20261228T090000Z\r\nDTEND:20261228T100000Z\r\nSUMMARY:No holiday\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


class TestHolidays:
    @pytest.mark.parametrize("holidays", ["2026-12-25, 2026-12-26", CALENDAR])
    async def test_are_no_business_days(self, holidays: str) -> None:
        business = {"unit": "business days", "holidays": holidays}
        assert await text(date="2026-12-24", amount=1, **business) == "2026-12-28"
        assert await text(date="2026-12-28T10:00", amount=1, operation="subtract", **business) == (
            "2026-12-24T10:00:00+00:00"
        )
        assert await text(date="2026-12-24", other="2026-12-29", operation="difference", **business) == "2"
        nexts = {"operation": "next business day", "holidays": holidays}
        assert await text(date="2026-12-25", **nexts) == "2026-12-28"
        assert await text(date="2026-12-24", **nexts) == "2026-12-24"

    async def test_of_a_calendar_recur(self) -> None:
        later = {"date": "2028-12-22", "amount": 2, "unit": "business days"}  # 25 and 26 are a Monday and a Tuesday
        assert await text(**later, holidays=CALENDAR) == "2028-12-28"
        assert await text(**later) == "2028-12-26"

    async def test_are_not_read_where_no_business_day_is_counted(self) -> None:
        assert await text(date="2026-12-24", amount=1, holidays="none") == "2026-12-25"

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"holidays": "Christmas"}, "'Christmas' is no date of a holiday"),
            ({"holidays": "2026-12-25 " * 1001}, "more than 1000 holidays"),
            ({"holidays": CALENDAR, "amount": 20_000}, "more than 20 years"),
            ({"holidays": "BEGIN:VCALENDAR\nbroken"}, "not a readable calendar"),
            ({"amount": -800_000}, "between the years 1 and 9999"),
            ({"amount": 4_000_000}, "between the years 1 and 9999"),
        ],
    )
    async def test_that_cannot_be_used_are_named(self, values: dict[str, Any], message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            await text(**{"date": "2026-12-24", "unit": "business days", **values})


DAYS = st.dates(date(2020, 1, 1), date(2021, 12, 31))


class TestBusinessDays:
    @given(DAYS, st.integers(-60, 60), st.sets(DAYS, max_size=120))
    def test_are_those_of_a_loop(self, day: date, amount: int, holidays: set[date]) -> None:
        days, one = BusinessDays(holidays), timedelta(days=1)
        step = one if amount >= 0 else -one

        def is_business(at: date) -> bool:
            return at.weekday() < 5 and at not in holidays

        at = day
        while not is_business(at):
            at -= step
        for _ in range(abs(amount)):
            at += step
            while not is_business(at):
                at += step
        moment = datetime.combine(day, time(9), UTC)
        assert days.later(moment, amount) == datetime.combine(at, time(9), UTC)
        at = day
        while not is_business(at):
            at += one
        assert days.next(moment).date() == at

    @given(DAYS, DAYS, st.sets(DAYS, max_size=120))
    def test_between_are_those_of_a_loop(self, first: date, second: date, holidays: set[date]) -> None:
        early, late = sorted((first, second))
        passed = [early + timedelta(days=number + 1) for number in range((late - early).days)]
        count = sum(day.weekday() < 5 and day not in holidays for day in passed)
        assert BusinessDays(holidays).between(first, second) == (count if first <= second else -count)


ROWS = [
    {"summary": "Planning; weekly", "start": "2027-02-01T09:00", "minutes": 45, "location": "Room, 2"},
    {"summary": "Holiday", "start": "2027-02-02", "end": "2027-02-03"},
    {"summary": "Call", "start": "2027-02-04T10:00Z"},
]


class TestCalendars:
    async def test_are_read_as_they_were_written(self) -> None:
        harness = StepHarness()
        file = (await harness.run(CreateCalendar, {"events": Table.from_records(ROWS), **STOCKHOLM}))["file"]  # type: ignore[arg-type]
        content = (await harness.ctx.files.read(file)).decode()
        again = {"text": content, "from": "2027-02-01", "to": "2027-03-01", **STOCKHOLM}
        events = (await harness.run(ReadCalendar, again))["events"].records()
        assert [(one["summary"], one["start"], one["end"], one["all_day"]) for one in events] == [
            ("Planning; weekly", "2027-02-01T09:00:00+01:00", "2027-02-01T09:45:00+01:00", False),
            ("Holiday", "2027-02-02", "2027-02-04", True),
            ("Call", "2027-02-04T11:00:00+01:00", "2027-02-04T12:00:00+01:00", False),
        ]
        assert events[0]["location"] == "Room, 2"
        once_more = (await harness.run(CreateCalendar, {"events": Table.from_records(ROWS), **STOCKHOLM}))["file"]  # type: ignore[arg-type]
        uids = [line for line in (await harness.ctx.files.read(once_more)).decode().splitlines() if "UID:" in line]
        assert uids == [line for line in content.splitlines() if "UID:" in line]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"summary": "x"}, "row 1 has no start"),
            ({"start": "2027-02-01T09:00", "end": "2027-02-01T08:00"}, "ends before it starts"),
        ],
    )
    async def test_say_which_row_is_wrong(self, row: dict[str, Any], message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            await StepHarness().run(CreateCalendar, {"events": Table.from_records([row])})
