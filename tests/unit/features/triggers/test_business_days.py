"""Schedules that skip weekends and holidays, or move to the next business day."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.triggers.schedule import Days, Schedule, checked_zone
from headgate.features.triggers.settings import ScheduleConfig
from headgate.features.triggers.words import sentence_of
from headgate.foundation.database import microseconds, moment

ZONE = checked_zone("Europe/Stockholm")
CHRISTMAS = frozenset({date(2027, 12, 24), date(2027, 12, 27), date(2028, 1, 6)})


def at(*local: int) -> int:
    return microseconds(datetime(*local, tzinfo=ZONE).astimezone(UTC))  # type: ignore[misc,arg-type]


def times(cron: str, days: Days, after: int, count: int, holidays: frozenset[date] = frozenset()) -> list[str]:
    schedule = Schedule(ZONE, cron=cron, days=days, holidays=holidays)
    return [f"{moment(due).astimezone(ZONE):%m-%d %H:%M}" for due in islice(schedule.moments(after), count)]


class TestSkipped:
    def test_weekends_and_holidays(self) -> None:
        found = times("0 7 * * *", "business", at(2027, 12, 23), 4, CHRISTMAS)
        assert found == ["12-23 07:00", "12-28 07:00", "12-29 07:00", "12-30 07:00"]

    def test_every_second_of_a_weekend_at_once(self) -> None:
        found = times("* * * * * *", "business", at(2027, 12, 24, 23, 59, 59), 2)
        assert found == ["12-27 00:00", "12-27 00:00"]

    @pytest.mark.parametrize("cron", ["0 7 * * SUN", "* * * * * SAT"])
    def test_what_is_never_on_a_business_day_never_comes(self, cron: str) -> None:
        assert Schedule(ZONE, cron=cron, days="business").next(at(2027, 1, 1)) is None


class TestMoved:
    def test_to_the_same_time_of_the_next_business_day(self) -> None:
        found = times("0 7 1 * *", "next_business", at(2027, 4, 2), 4)
        assert found == ["05-03 07:00", "06-01 07:00", "07-01 07:00", "08-02 07:00"]
        assert times("0 7 25 12 *", "next_business", at(2027, 1, 1), 1, CHRISTMAS) == ["12-28 07:00"]

    def test_each_time_counts_once(self) -> None:
        found = times("0 7,19 * * *", "next_business", at(2027, 12, 23, 8), 4, CHRISTMAS)
        assert found == ["12-23 19:00", "12-28 07:00", "12-28 19:00", "12-29 07:00"]

    def test_also_when_asked_between_the_day_and_the_moved_time(self) -> None:
        assert times("0 7 25 12 *", "next_business", at(2027, 12, 28, 6), 1, CHRISTMAS) == ["12-28 07:00"]
        assert times("0 7 25 12 *", "next_business", at(2027, 12, 28, 7), 1, CHRISTMAS) == ["12-25 07:00"]

    def test_to_a_missing_time_runs_at_the_end_of_the_gap(self) -> None:
        zone = checked_zone("Africa/Cairo")  # the clocks change on Friday, 2027-04-30, 00:00
        schedule = Schedule(zone, cron="30 0 29 4 *", days="next_business", holidays=frozenset({date(2027, 4, 29)}))
        due = schedule.next(at(2027, 4, 1))
        assert due is not None
        assert f"{moment(due).astimezone(zone):%m-%d %H:%M}" == "04-30 01:00"


@given(
    st.sampled_from(["0 7 * * *", "0 7,19 * * *", "30 2 * * *", "0 8 1 * *", "15 6 * * SAT", "0 */5 * * *"]),
    st.sampled_from(["business", "next_business"]),
    st.frozensets(st.dates(date(2027, 3, 1), date(2027, 4, 30)), max_size=20),
    st.integers(0, 50 * 24),
)
def test_moments_are_on_business_days_and_the_same_from_each_of_them(
    cron: str, days: Days, holidays: frozenset[date], hours: int
) -> None:
    schedule = Schedule(ZONE, cron=cron, days=days, holidays=holidays)
    begin = at(2027, 3, 1) + hours * 3_600_000_000
    found = list(islice(schedule.moments(begin), 12))
    assert found == sorted(set(found))
    for due in found:
        day = moment(due).astimezone(ZONE).date()
        assert day.weekday() < 5
        assert day not in holidays
    if found:
        for earlier, later in zip([begin, *found], found, strict=False):
            assert schedule.next(earlier) == later
        long_before = schedule.moments(begin - 30 * 86_400_000_000)
        assert next(due for due in long_before if due > begin) == found[0]


def test_nothing_is_lost_by_moving() -> None:
    """Every day has one due time, on the first business day from it on."""
    schedule = Schedule(ZONE, cron="0 7 * * *", days="next_business", holidays=CHRISTMAS)
    due = {moment(one).astimezone(ZONE).date() for one in islice(schedule.moments(at(2027, 12, 1)), 60)}
    day = date(2027, 12, 1)
    while day < date(2028, 1, 31):
        moved = day
        while moved.weekday() >= 5 or moved in CHRISTMAS:
            moved += timedelta(days=1)
        assert moved in due
        day += timedelta(days=1)


def test_the_sentence_says_it() -> None:
    config = ScheduleConfig(cron="0 7 * * *", days="business", holidays=[date(2027, 12, 24)])
    assert sentence_of(config, {}).endswith("(UTC), on business days only, 1 holiday")
