"""Error budgets and burn rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.slos.figures import PART, SPANS, Count, budget_left, start_of


class TestBudget:
    @pytest.mark.parametrize(
        ("bad", "total", "target", "left"),
        [(0, 0, 99, 100), (0, 1_000, 99, 100), (5, 1_000, 99, 50), (10, 1_000, 99, 0), (20, 1_000, 99, -100)],
    )
    def test_is_the_share_of_bad_runs_that_are_left(self, bad: int, total: int, target: float, left: float) -> None:
        assert budget_left(bad, total, target) == pytest.approx(left)

    def test_a_burn_rate_of_one_uses_all_of_it(self) -> None:
        assert Count(1_000, 990).burn_rate(99) == pytest.approx(1)
        assert Count(1_000, 856).burn_rate(99) == pytest.approx(14.4)
        assert Count().burn_rate(99) is None

    @given(st.integers(1, 10_000), st.floats(0, 1), st.floats(50, 99.999))
    def test_of_a_window_and_its_burn_rate_agree(self, total: int, share: float, target: float) -> None:
        count = Count(total, round(total * share))
        rate = count.burn_rate(target)
        assert rate is not None
        assert budget_left(total - count.good, total, target) == pytest.approx(100 * (1 - rate), abs=1e-6)


class TestWindows:
    @given(st.sampled_from(sorted(SPANS.values())), st.integers(10**15, 2 * 10**15))
    def test_begin_at_a_stored_count_and_are_hardly_longer(self, span: int, at: int) -> None:
        start = start_of(span, at)
        assert span <= at - start < span + PART
        assert start % PART == 0 or span == PART
