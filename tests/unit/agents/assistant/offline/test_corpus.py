"""Requests of earlier versions, as a development set: each is built as its entry expects, or refused; none is guessed."""  # noqa: E501

from collections import Counter

import pytest

from tests.unit.agents.assistant.offline.corpus import Entry, entries, judge

CORPORA = ("developing", "held_out", "held_out_2", "held_out_3", "held_out_4", "runs")
ROWS = [pytest.param(entry, id=f"{name}-{entry['id']}") for name in CORPORA for entry in entries(name)]
LEAST_RIGHT = 100
"""Of 393; the others are refused, with what comes near."""


class TestCorpus:
    @pytest.mark.parametrize("entry", ROWS)
    async def test_is_built_as_expected_or_refused(self, entry: Entry) -> None:
        outcome, faults = await judge(entry)
        assert outcome != "wrong", faults

    async def test_is_built_for_most_of_what_was(self) -> None:
        counts = Counter([(await judge(entry))[0] for name in CORPORA for entry in entries(name)])
        assert counts["right"] >= LEAST_RIGHT, counts
