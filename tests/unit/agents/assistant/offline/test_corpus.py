"""Requests of earlier versions, as a development set: each is built as its entry expects, or refused; none is guessed."""  # noqa: E501

from collections import Counter

from tests.support.report_all import report_all
from tests.unit.agents.assistant.offline.corpus import entries, judge

CORPORA = ("developing", "held_out", "held_out_2", "held_out_3", "held_out_4", "runs")
LEAST_RIGHT = 100
"""Of 393; the others are refused, with what comes near."""


class TestCorpus:
    async def test_is_built_as_expected_or_refused_and_built_for_most(self) -> None:
        counts: Counter[str] = Counter()
        with report_all() as item:
            for corpus, entry in ((name, entry) for name in CORPORA for entry in entries(name)):
                with item(f"{corpus}-{entry['id']}"):
                    outcome, faults = await judge(entry)
                    counts[outcome] += 1
                    assert outcome != "wrong", faults
        assert counts["right"] >= LEAST_RIGHT, counts
