"""The held-out sentences: how many come out right, and that hardly any comes out wrong without a word."""

from collections import Counter

from tests.unit.agents.assistant.offline.measure import measured


class TestHeldOut:
    async def test_most_are_right_and_hardly_any_is_silently_wrong(self) -> None:
        counts = sum((await measured()).values(), Counter[str]())
        total = sum(counts.values())
        assert counts["right"] >= 0.6 * total, counts
        assert counts["silently wrong"] <= 0.02 * total, counts
