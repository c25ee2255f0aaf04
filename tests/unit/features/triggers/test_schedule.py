"""Due times: cron in time zones, both nights of the clock changes, true intervals, catch-up."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headgate.features.triggers.errors import ScheduleInvalid
from headgate.features.triggers.schedule import SECOND, Schedule, checked_cron, checked_zone
from headgate.features.triggers.scheduler import BATCH, GRACE_SECONDS, split_due
from headgate.features.triggers.settings import Policies, ScheduleConfig
from headgate.features.triggers.words import schedule_of, sentence_of
from headgate.foundation.database import microseconds, moment

STOCKHOLM = checked_zone("Europe/Stockholm")
CRONS = (
    "30 2 * * *",
    "0,30 2,3 * * *",
    "*/15 * * * *",
    "0 7 * * MON-FRI",
    "0 */6 * * * *",
    "0 0 L * *",
    "59 1 * * 0",
    "30 2 28W * *",
)


def at(*local: int, fold: int = 0, zone: str = "Europe/Stockholm") -> int:
    return microseconds(datetime(*local, fold=fold, tzinfo=checked_zone(zone)).astimezone(UTC))  # type: ignore[misc,arg-type]


def local_times(cron: str, after: int, count: int) -> list[str]:
    schedule = Schedule(STOCKHOLM, cron=cron)
    return [f"{moment(due).astimezone(STOCKHOLM):%m-%d %H:%M%z}" for due in islice(schedule.moments(after), count)]


class TestNightsOfClockChanges:
    def test_a_missing_time_runs_at_the_end_of_the_gap(self) -> None:
        found = local_times("30 2 * * *", at(2027, 3, 27), 3)
        assert found == ["03-27 02:30+0100", "03-28 03:00+0200", "03-29 02:30+0200"]
        schedule = Schedule(STOCKHOLM, cron="30 2 * * *")
        (note,) = schedule.notes(at(2027, 3, 28, 3))
        assert note.sentence() == "02:30 does not exist on 2027-03-28: runs at 03:00"

    def test_a_repeated_time_runs_once(self) -> None:
        found = local_times("30 2 * * *", at(2027, 10, 30, 12), 3)
        assert found == ["10-31 02:30+0200", "11-01 02:30+0100", "11-02 02:30+0100"]
        (note,) = Schedule(STOCKHOLM, cron="30 2 * * *").notes(at(2027, 10, 31, 2, 30))
        assert note.sentence() == "02:30 occurs twice on 2027-10-31: runs once, the first time"

    def test_it_does_not_run_again_in_the_repeated_hour(self) -> None:
        after = at(2027, 10, 31, 2, 10, fold=1)
        assert local_times("30 2 * * *", after, 1) == ["11-01 02:30+0100"]

    def test_times_within_the_hour_follow_real_time(self) -> None:
        assert local_times("*/30 * * * *", at(2027, 10, 31, 1, 45), 4) == [
            "10-31 02:00+0200",
            "10-31 02:30+0200",
            "10-31 02:00+0100",
            "10-31 02:30+0100",
        ]
        assert local_times("*/30 * * * *", at(2027, 3, 28, 1, 15), 2) == ["03-28 01:30+0100", "03-28 03:00+0200"]

    @pytest.mark.parametrize("cron", ["30 2 * * *", "*/30 * * * *", "0 */6 * * *", "59 1,2 * * 0"])
    @pytest.mark.parametrize("second", [0, 7])
    def test_are_the_same_with_one_fixed_second(self, cron: str, second: int) -> None:
        plain, with_second = Schedule(STOCKHOLM, cron=cron), Schedule(STOCKHOLM, cron=f"{second} {cron}")
        for day in (at(2027, 3, 27), at(2027, 10, 30)):
            dues = list(islice(plain.moments(day), 60))
            later = [due + second * SECOND for due in dues]
            assert list(islice(with_second.moments(day + second * SECOND), 60)) == later
            assert [with_second.notes(due) for due in later] == [plain.notes(due) for due in dues]

    def test_ordinary_days_have_no_note(self) -> None:
        schedule = Schedule(STOCKHOLM, cron="30 2 * * *")
        assert [schedule.notes(due) for due in islice(schedule.moments(at(2027, 5, 1)), 20)] == [[]] * 20


class TestDueTimes:
    @given(
        cron=st.sampled_from(CRONS),
        zone=st.sampled_from(("UTC", "Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")),
        start=st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1)),  # noqa: DTZ001 - made aware below
    )
    def test_ascend_strictly_and_do_not_depend_on_where_they_are_read_from(
        self, cron: str, zone: str, start: datetime
    ) -> None:
        schedule = Schedule(checked_zone(zone), cron=cron)
        after = microseconds(start.replace(tzinfo=UTC))
        dues = list(islice(schedule.moments(after), 12))
        assert after < dues[0]
        assert dues == sorted(set(dues))
        assert [schedule.next(before) for before in [after, *dues[:-1]]] == dues
        assert [schedule.next(due - 1) for due in dues] == dues

    @given(every=st.integers(1, 10**6), after=st.integers(0, 10**9))
    def test_of_an_interval_are_a_true_interval_apart(self, every: int, after: int) -> None:
        schedule = Schedule(checked_zone("UTC"), every_seconds=every, anchor=SECOND)
        first, second = islice(schedule.moments(after * SECOND), 2)
        assert second - first == every * SECOND
        assert (first - SECOND) % (every * SECOND) == 0
        assert after * SECOND < first or first == SECOND

    def test_stay_within_start_and_end(self) -> None:
        config = ScheduleConfig(
            cron="0 12 * * *",
            start=datetime(2027, 1, 2, 12, tzinfo=UTC),
            end=datetime(2027, 1, 4, 12, tzinfo=UTC),
        )
        found = [moment(due).day for due in schedule_of(config, 0).moments(at(2026, 1, 1))]
        assert found == [2, 3, 4]

    def test_are_started_with_a_jitter_that_is_the_same_each_time(self) -> None:
        schedule = Schedule(checked_zone("UTC"), cron="0 * * * *", jitter_seconds=300)
        dues = list(islice(schedule.moments(0), 50))
        delays = [schedule.begins(due, "a") - due for due in dues]
        assert delays == [schedule.begins(due, "a") - due for due in dues]
        assert all(0 <= delay < 300 * SECOND for delay in delays)
        assert len(set(delays)) > 40
        assert delays != [schedule.begins(due, "b") - due for due in dues]

    @pytest.mark.parametrize("config", [{"cron": "* * * * *"}, {"every_seconds": 60}])
    def test_are_all_started_in_order_with_a_jitter_longer_than_the_period(self, config: Any) -> None:
        schedule = Schedule(checked_zone("UTC"), jitter_seconds=3600, **config)
        cursor, started = 0, list[int]()
        for now in range(SECOND, 7200 * SECOND, 5 * SECOND):
            split = split_due(schedule, Policies(), "a", cursor, now)
            assert not split.missed
            started += split.due
            cursor = max([cursor, *split.due])
        assert len(started) >= 118
        assert started == list(islice(schedule.moments(0), len(started)))


class TestCron:
    @pytest.mark.parametrize(
        "cron",
        [
            "0 7 * * MON-FRI",
            "*/10 * * * * *",
            "0 0 L * *",
            "0 9 * * MON#2",
            "0 9 LW * *",
            "0 9 1,15w,LW * *",
            "0 0 9 31W * *",
        ],
    )
    def test_takes_seconds_last_days_and_numbered_weekdays(self, cron: str) -> None:
        assert checked_cron(f" {cron} ") == cron

    @pytest.mark.parametrize(
        "cron",
        [
            "",
            "1 2 3",
            "61 * * * *",
            "0 0 30 2 *",
            "0 7 32W * *",
            "0 7 0W * *",
            "0 7 W * *",
            "0 7 1-15W * *",
            "0 7 15W/2 * *",
            "0 7 * * 5W",
            "0 7 30W 2 *",
            "a b c d e",
            "@daily",
        ],
    )
    def test_refuses_others(self, cron: str) -> None:
        with pytest.raises(ScheduleInvalid):
            checked_cron(cron)

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime"])
    def test_refuses_unknown_time_zones(self, zone: str) -> None:
        with pytest.raises(ScheduleInvalid):
            checked_zone(zone)


class TestNearestWeekdays:
    def test_stay_within_the_month(self) -> None:
        # 2027-05-01 is a Saturday, 2026-11-01 a Sunday; 2026-01-31 is a Saturday, 2027-01-31 a Sunday.
        for cron, after, due in (
            ("0 9 1W * *", at(2027, 4, 30), "05-03 09:00+0200"),
            ("0 9 1W * *", at(2026, 10, 31), "11-02 09:00+0100"),
            ("0 9 31W * *", at(2026, 1, 1), "01-30 09:00+0100"),
            ("0 9 31W * *", at(2027, 1, 1), "01-29 09:00+0100"),
            ("0 9 15W 8 *", at(2026, 8, 1), "08-14 09:00+0200"),  # Saturday
            ("0 9 15W 11 *", at(2026, 11, 1), "11-16 09:00+0100"),  # Sunday
            ("0 9 30W 2,4 *", at(2027, 1, 1), "04-30 09:00+0200"),
        ):
            assert local_times(cron, after, 1) == [due]

    @given(
        days=st.lists(st.integers(1, 31), min_size=1, max_size=3),
        plain=st.lists(st.integers(1, 28), max_size=2),
        months=st.sampled_from((range(1, 13), (2,), (4, 12))),
        year=st.integers(2024, 2060),
    )
    def test_are_those_of_the_naive_definition(
        self, days: list[int], plain: list[int], months: Sequence[int], year: int
    ) -> None:
        every = [
            date(year, 1, 1) + timedelta(days=number)
            for number in range((date(year + 2, 1, 1) - date(year, 1, 1)).days)
        ]
        nearest = {_nearest(day, every) for day in every if day.day in days}
        expected = [day for day in every if day.month in months and (day in nearest or day.day in plain)]
        assume(expected)
        field = ",".join([*(f"{day}W" for day in days), *map(str, plain)])
        cron = checked_cron(f"0 0 {field} {','.join(map(str, months))} *")
        dues = islice(
            Schedule(checked_zone("UTC"), cron=cron).moments(at(year, 1, 1, zone="UTC") - 1), len(expected) + 1
        )
        assert [moment(due).date() for due in dues][:-1] == expected


def _nearest(day: date, every: list[date]) -> date | None:
    """The weekday of the same month that is the fewest days away, the earlier one for a Saturday."""
    of_month = [one for one in every if (one.year, one.month) == (day.year, day.month) and one.weekday() < 5]
    return min(of_month, key=lambda one: (abs((one - day).days), one), default=None)


class TestSentences:
    @pytest.mark.parametrize(
        ("cron", "words"),
        [
            ("0 7 15W * *", "At 07:00 on the weekday nearest to day 15 of every month"),
            ("0 7 1W,15W 6 *", "At 07:00 on the weekdays nearest to days 1 and 15 of June"),
            ("0 7 LW,1W * *", "At 07:00 on the last weekday and the weekday nearest to day 1 of every month"),
            ("0 7 3,15W * *", "At 07:00 on the third day of month and the weekday nearest to day 15 of the month"),
            ("30 0 7 15W * MON", "At 07:00:30 on the weekday nearest to day 15 of the month and on Monday"),
        ],
    )
    def test_name_the_nearest_weekday(self, cron: str, words: str) -> None:
        assert sentence_of(ScheduleConfig(cron=cron), {}) == f"{words} (UTC)"

    def test_are_plain(self) -> None:
        weekdays = ScheduleConfig(cron="0 7 * * MON-FRI", time_zone="Europe/Stockholm")
        assert sentence_of(weekdays, {}) == "At 07:00 on weekdays (Europe/Stockholm)"
        assert sentence_of(ScheduleConfig(every_seconds=5400), {}) == "Every 90 minutes"
        assert sentence_of(ScheduleConfig(every_seconds=3600), {}) == "Every hour"


class TestCatchUp:
    SCHEDULE = Schedule(checked_zone("UTC"), cron="0 * * * *")
    CURSOR = at(2027, 1, 1, 0, zone="UTC")

    def split(self, hours: float, **policies: object) -> tuple[int, int, bool]:
        now = self.CURSOR + round(hours * 3600 * SECOND)
        found = split_due(self.SCHEDULE, Policies.model_validate(policies), "t", self.CURSOR, now)
        assert not set(found.due) & set(found.missed)
        return len(found.due), len(found.missed), found.more

    def test_runs_what_is_on_time(self) -> None:
        assert self.split(0.5) == (0, 0, False)
        for policy in ("none", "latest", "all"):
            assert self.split(1.001, catch_up=policy) == (1, 0, False)

    def test_of_a_downtime_runs_none_the_latest_or_all_within_the_window(self) -> None:
        assert self.split(10.5, catch_up="none") == (0, 10, False)
        assert self.split(10.5, catch_up="latest") == (1, 9, False)
        assert self.split(10.5, catch_up="all") == (10, 0, False)
        assert self.split(10.5, catch_up="all", catch_up_hours=4) == (4, 6, False)
        assert self.split(10.5, catch_up="latest", catch_up_hours=0.25) == (0, 10, False)

    def test_the_latest_is_one_that_was_missed_only_if_none_is_on_time(self) -> None:
        assert self.split(10.001, catch_up="latest") == (1, 9, False)

    def test_goes_in_batches_without_a_gap(self) -> None:
        now = self.CURSOR + 1000 * 3600 * SECOND + 30 * 60 * SECOND
        cursor, due, missed = self.CURSOR, 0, 0
        while True:
            found = split_due(self.SCHEDULE, Policies(catch_up="latest"), "t", cursor, now)
            due, missed = due + len(found.due), missed + len(found.missed)
            assert len(found.due) + len(found.missed) <= BATCH
            cursor = max([cursor, *found.due, *found.missed])
            if not found.more:
                break
        assert (due, missed) == (1, 999)

    def test_a_clock_set_back_fires_nothing_again(self) -> None:
        earlier = self.CURSOR - round(timedelta(hours=5).total_seconds()) * SECOND
        found = split_due(self.SCHEDULE, Policies(), "t", self.CURSOR, earlier)
        assert (found.due, found.missed) == ([], [])

    def test_the_grace_is_shorter_than_any_downtime_that_counts(self) -> None:
        late = self.CURSOR + 3600 * SECOND + (GRACE_SECONDS + 1) * SECOND
        found = split_due(self.SCHEDULE, Policies(catch_up="none"), "t", self.CURSOR, late)
        assert (list(found.due), len(found.missed)) == ([], 1)
