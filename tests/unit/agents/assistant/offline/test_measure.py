"""The held-out sentences: how many come out right, and that none comes out wrong without a word."""

from collections import Counter

import pytest

from tests.unit.agents.assistant.offline.measure import measured


class TestHeldOut:
    @pytest.mark.parametrize("name", ["held_out", "office", "quantities"])
    async def test_most_are_right_and_none_is_silently_wrong(self, name: str) -> None:
        counts = sum((await measured(name)).values(), Counter[str]())
        total = sum(counts.values())
        assert counts["right"] >= 0.6 * total, counts
        assert counts["silently wrong"] == 0, counts
