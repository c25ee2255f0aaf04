"""Calculating with dates, and writing calendars."""

from typing import Any

import pytest

from headgate.components.data.calendars import CreateCalendar, ReadCalendar
from headgate.components.data.dates import DateMath
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
