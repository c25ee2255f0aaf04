from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from headgate.foundation.guarded_http.retries import PAUSES, pause_after, retry_after, spread


class TestSpread:
    def test_stays_within_a_fifth(self) -> None:
        assert PAUSES == (1.0, 2.0, 4.0)
        found = [spread(4.0) for _ in range(200)]
        assert all(3.2 <= pause <= 4.8 for pause in found)
        assert len(set(found)) > 100


class TestPauseAfter:
    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_waits_after_answers_that_pass(self, status: int) -> None:
        assert pause_after(status, {}, 1.0) == pytest.approx(1.0, abs=0.2)

    @pytest.mark.parametrize("status", [200, 301, 400, 404, 500, 501])
    def test_takes_other_answers_as_they_are(self, status: int) -> None:
        assert pause_after(status, {}, 1.0) is None

    def test_waits_as_long_as_the_server_asks(self) -> None:
        assert pause_after(429, {"retry-after": "7"}, 1.0) == 7.0

    def test_does_not_come_back_sooner_than_its_own_pause(self) -> None:
        assert (pause_after(503, {"retry-after": "0"}, 4.0) or 0) >= 3.2

    def test_does_not_wait_when_the_server_asks_for_long(self) -> None:
        assert pause_after(503, {"retry-after": "3600"}, 1.0) is None


class TestRetryAfter:
    def test_reads_a_date(self) -> None:
        moment = datetime.now(UTC) + timedelta(seconds=10)
        assert retry_after(format_datetime(moment, usegmt=True)) == pytest.approx(10, abs=1.5)

    def test_takes_a_past_date_as_now(self) -> None:
        assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0

    @pytest.mark.parametrize("value", ["", "soon", "-5", "1e9", "\u0664", "Wed, 99 Oct 2015"])
    def test_ignores_what_is_neither_number_nor_date(self, value: str) -> None:
        assert retry_after(value) is None

    def test_bounds_an_absurd_number(self) -> None:
        assert retry_after("9" * 400) == 999_999_999
