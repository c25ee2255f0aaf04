"""Measures of retrieval, against values computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.knowledge.evaluation.measures import Ranks, ndcg, recall, reciprocal_rank


@pytest.mark.parametrize(
    ("ranks", "k", "expected"),
    [
        ([1], 10, (1.0, 1.0, 1.0)),
        ([2], 10, (1.0, 0.6309, 0.5)),
        ([None], 10, (0.0, 0.0, 0.0)),
        ([1, None], 10, (0.5, 0.6131, 1.0)),
        ([3, 1], 10, (1.0, 0.9197, 1.0)),
        ([1, None], 1, (0.5, 1.0, 1.0)),
    ],
)
def test_values(ranks: Ranks, k: int, expected: tuple[float, float, float]) -> None:
    found = recall(ranks), ndcg(ranks, k), reciprocal_rank(ranks)
    assert found == pytest.approx(expected, abs=1e-4)


@given(st.sets(st.integers(1, 50), min_size=1, max_size=20), st.integers(0, 5))
def test_lie_between_0_and_1(found: set[int], missed: int) -> None:
    ranks = [*found, *([None] * missed)]
    for value in (recall(ranks), ndcg(ranks, 50), reciprocal_rank(ranks)):
        assert 0 < value <= 1.0 + 1e-9
