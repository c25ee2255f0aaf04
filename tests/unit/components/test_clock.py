"""Dates and waiting."""

from datetime import UTC, datetime

import pytest

from headgate.components import clock
from headgate.components.clock import CurrentDate, Wait
from headgate.foundation.errors import Cancelled
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness


class TestCurrentDate:
    @pytest.fixture(autouse=True)
    def frozen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clock, "current_time", lambda: datetime(2024, 12, 31, 23, 30, 5, 999, tzinfo=UTC))

    async def test_gives_iso_in_utc(self) -> None:
        assert (await StepHarness().run(CurrentDate, {}))["text"] == "2024-12-31T23:30:05+00:00"
        assert (await StepHarness().run(CurrentDate, {"timezone": ""}))["text"] == "2024-12-31T23:30:05+00:00"

    async def test_follows_zone_and_format(self) -> None:
        outputs = await StepHarness().run(CurrentDate, {"timezone": "Europe/Stockholm", "format": "%d/%m %Y kl %H"})
        assert outputs["text"] == "01/01 2025 kl 00"
        assert outputs["data"] == {
            "iso": "2025-01-01T00:30:05+01:00", "date": "2025-01-01", "time": "00:30:05", "year": 2025, "month": 1,
            "day": 1, "weekday": "Wednesday", "week": 1, "timestamp": 1735687805, "timezone": "Europe/Stockholm",
        }  # fmt: skip

    @pytest.mark.parametrize("name", ["Europe/Stokholm", "../../etc/passwd", "/etc/passwd", "x\x00", "."])
    async def test_refuses_a_zone_that_is_none(self, name: str) -> None:
        with pytest.raises(ComponentError, match="there is no time zone"):
            await StepHarness().run(CurrentDate, {"timezone": name})

    async def test_names_the_nearest_zone(self) -> None:
        with pytest.raises(ComponentError, match="did you mean 'Europe/Stockholm'"):
            await StepHarness().run(CurrentDate, {"timezone": "Europe/Stokholm"})

    async def test_survives_an_odd_format(self) -> None:
        assert (await StepHarness().run(CurrentDate, {"format": "a\x00b%Y"}))["text"] == "a\ufffdb2024"


class TestWait:
    async def test_waits_then_passes_the_value_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clock, "current_time", lambda: datetime(2026, 3, 1, tzinfo=UTC))
        harness = StepHarness()
        outputs = await harness.run(Wait, {"seconds": 3, "value": Table(columns=["a"], rows=[[1]])})
        assert outputs == {"value": [{"a": 1}]}
        assert harness.ctx.slept == [3.0]

    async def test_ends_when_cancelled(self) -> None:
        harness = StepHarness()
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(Wait, {})

    async def test_is_bounded(self) -> None:
        with pytest.raises(ComponentError, match="'seconds'"):
            await StepHarness().run(Wait, {"seconds": 1e9})

    async def test_waits_until_a_date_in_its_time_zone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clock, "current_time", lambda: datetime(2026, 3, 1, tzinfo=UTC))
        harness = StepHarness()
        await harness.run(Wait, {"until": "2026-03-02 09:00", "timezone": "Europe/Stockholm"})
        await harness.run(Wait, {"until": "2026-03-02T09:00:00+02:00", "timezone": "Europe/Stockholm"})
        await harness.run(Wait, {"until": "2031-03-01"})
        assert harness.ctx.slept == [32 * 3600.0, 31 * 3600.0, (5 * 365 + 1) * 86_400.0]

    async def test_does_not_wait_for_a_date_that_is_past(self) -> None:
        harness = StepHarness()
        assert await harness.run(Wait, {"until": "2020-01-01", "value": "x"}) == {"value": "x"}
        assert harness.ctx.slept[0] < 0

    @pytest.mark.parametrize(
        ("cron", "now", "expected"),
        [
            ("0 8 * * MON-FRI", "2026-11-27T09:00:00+01:00", "2026-11-30T08:00:00+01:00"),
            ("0 8 * * *", "2026-11-28T08:00:00+01:00", "2026-11-29T08:00:00+01:00"),
            # Night to 2027-03-28: 02:00 to 03:00 does not exist.
            ("30 2 * * *", "2027-03-27T12:00:00+01:00", "2027-03-28T03:00:00+02:00"),
            ("0 8 * * *", "2027-03-27T12:00:00+01:00", "2027-03-28T08:00:00+02:00"),
            ("*/30 * * * *", "2027-03-28T01:30:00+01:00", "2027-03-28T03:00:00+02:00"),
            # Night to 2027-10-31: 02:00 to 03:00 comes twice.
            ("30 2 * * *", "2027-10-30T12:00:00+02:00", "2027-10-31T02:30:00+02:00"),
            ("30 2 * * *", "2027-10-31T02:30:00+02:00", "2027-11-01T02:30:00+01:00"),
            ("*/30 * * * *", "2027-10-31T02:30:00+02:00", "2027-10-31T02:00:00+01:00"),
        ],
    )
    async def test_waits_for_the_next_moment_of_a_schedule(
        self, monkeypatch: pytest.MonkeyPatch, cron: str, now: str, expected: str
    ) -> None:
        begin = datetime.fromisoformat(now)
        monkeypatch.setattr(clock, "current_time", lambda: begin.astimezone(UTC))
        harness = StepHarness()
        await harness.run(Wait, {"cron": cron, "timezone": "Europe/Stockholm", "value": "x"})
        assert harness.ctx.slept == [(datetime.fromisoformat(expected) - begin).total_seconds()]

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"until": "tomorrow"}, "'tomorrow' is not a date and time"),
            ({"cron": "0 8 * *"}, "has 4 fields; a cron expression has 5"),
            ({"cron": "0 25 * * *"}, "its hour is not valid"),
            ({"cron": "0 0 30 2 *"}, "its day of month is not valid"),
            ({"cron": "0 8 * * *", "until": "2027-01-01"}, "both a date and a cron expression"),
            ({"cron": "0 8 * * *", "timezone": "Europe/Stokholm"}, "Wait: there is no time zone"),
            ({"until": "2999-01-01"}, "more than ten years away"),
            ({"until": "2027-01-01", "timezone": "Europe/Stokholm"}, "Wait: there is no time zone"),
        ],
    )
    async def test_refuses_an_end_that_is_none(self, params: dict[str, str], message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            await StepHarness().run(Wait, params)
