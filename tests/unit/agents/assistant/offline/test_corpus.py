"""Every request of the corpus, understood as its entry expects; those with a run are run on the real components."""

from collections.abc import Iterator

import pytest

from tests.unit.agents.assistant.offline.corpus import Entry, entries, judge

CORPORA = ("developing", "held_out", "held_out_2", "held_out_3", "held_out_4", "runs")


def requests() -> Iterator[object]:
    """Every entry that is not marked as beyond the builder."""
    for name in CORPORA:
        for entry in entries(name):
            if not entry.get("skip"):
                yield pytest.param(entry, id=f"{name}-{entry['id']}")


class TestCorpus:
    @pytest.mark.parametrize("entry", list(requests()))
    async def test_is_understood(self, entry: Entry) -> None:
        assert await judge(entry) == []

    def test_has_no_id_twice(self) -> None:
        ids = [(name, entry["id"]) for name in CORPORA for entry in entries(name)]
        assert len(ids) == len(set(ids))

    def test_gives_up_on_few_requests(self) -> None:
        given_up = [entry["id"] for name in CORPORA for entry in entries(name) if entry.get("skip")]
        assert len(given_up) <= 12
