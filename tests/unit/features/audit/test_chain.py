"""The chain: its digests are RFC 8785, and every change of it is seen."""

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.access.principal import LOCAL
from headgate.features.audit.chain import GENESIS, MEMBERS, Entry, link
from headgate.features.audit.recorder import entry_of
from headgate.features.audit.walk import MOST_FAULTS, StoredEntry, Verdict
from headgate.foundation.canonical import digest

texts = st.text(st.characters(exclude_categories=["Cs"]))
entries = st.builds(
    Entry,
    at=st.integers(0, 2**52),
    **{name: texts | st.none() for name in MEMBERS if name != "at"},
)


def chain(length: int) -> list[StoredEntry]:
    """Entries 1 to `length`."""
    found, previous = [], GENESIS
    for seq in range(1, length + 1):
        entry = replace(entry_of(LOCAL, "flow.renamed", id=f"f{seq}"), at=seq)
        previous = link(previous, seq, entry.content_digest)
        found.append(StoredEntry(seq, entry.content, entry.content_digest, previous))
    return found


def told(found: list[StoredEntry], seq: int, hash_: str) -> list[str]:
    verdict = Verdict()
    for one in found:
        verdict.verify_entry(one)
    verdict.verify_end(seq, hash_)
    return [fault.where for fault in verdict.faults]


def rehashed(found: list[StoredEntry], first: int) -> list[StoredEntry]:
    """The entries from a place on with hashes that fit, as one who may write to the table would make them."""
    made = found[: first - 1]
    for one in found[first - 1 :]:
        previous = made[-1].hash if made else GENESIS
        made.append(replace(one, hash=link(previous, one.seq, one.content_digest)))
    return made


WHOLE = chain(6)
END = WHOLE[-1].hash


class TestEntry:
    @given(entries)
    def test_has_the_digest_of_its_canonical_json(self, entry: Entry) -> None:
        assert entry.content_digest == digest(entry.content)

    @given(entries, st.sampled_from([name for name in MEMBERS if name != "at"]), texts)
    def test_has_another_digest_once_a_member_is_changed(self, entry: Entry, name: str, value: str) -> None:
        changed = Entry(**{**asdict(entry), name: value})
        assert (changed.content_digest == entry.content_digest) == (changed == entry)


class TestVerdict:
    def test_of_a_whole_chain_is_good(self) -> None:
        assert told(WHOLE, 6, END) == []
        assert told([], 0, GENESIS) == []

    @pytest.mark.parametrize("name", MEMBERS)
    def test_finds_any_changed_member(self, name: str) -> None:
        content: dict[str, Any] = {**(WHOLE[2].content or {}), name: "changed"}
        assert told([*WHOLE[:2], replace(WHOLE[2], content=content), *WHOLE[3:]], 6, END) == ["entry 3"]

    def test_finds_a_change_with_its_digest_made_anew(self) -> None:
        other = replace(entry_of(LOCAL, "flow.renamed", id="other"), at=3)
        forged = replace(WHOLE[2], content=other.content, content_digest=other.content_digest)
        assert told([*WHOLE[:2], forged, *WHOLE[3:]], 6, END) == ["entry 3"]
        alone = replace(forged, hash=link(WHOLE[1].hash, 3, other.content_digest))
        assert told([*WHOLE[:2], alone, *WHOLE[3:]], 6, END) == ["entry 4"]

    def test_finds_a_chain_made_anew_from_the_middle(self) -> None:
        other = replace(entry_of(LOCAL, "flow.renamed", id="other"), at=3)
        forged = replace(WHOLE[2], content=other.content, content_digest=other.content_digest)
        assert told(rehashed([*WHOLE[:2], forged, *WHOLE[3:]], 3), 6, END) == ["end"]

    @pytest.mark.parametrize(("gone", "where"), [({1}, "entry 1"), ({3, 4}, "entries 3 to 4"), ({6}, "entry 6")])
    def test_finds_what_is_missing(self, gone: set[int], where: str) -> None:
        assert told([one for one in WHOLE if one.seq not in gone], 6, END) == [where]

    def test_finds_a_swap(self) -> None:
        swapped = [replace(WHOLE[3], seq=3), replace(WHOLE[2], seq=4)]
        assert told([*WHOLE[:2], *swapped, *WHOLE[4:]], 6, END) == ["entry 3", "entry 4", "entry 5"]

    def test_finds_what_was_put_in_at_the_end(self) -> None:
        assert told(chain(7), 6, END) == ["end"]

    def test_finds_what_has_no_form(self) -> None:
        for broken in (
            StoredEntry("x", {}, "", ""),
            StoredEntry(3, None, None, None),
            StoredEntry(3, {}, 1, "x"),
            StoredEntry(None, None, 1, 2),
        ):
            assert told([*WHOLE[:2], broken, *WHOLE[3:]], 6, END)[0].startswith("entr")

    def test_tells_so_many_faults_and_counts_the_others(self) -> None:
        verdict = Verdict()
        for one in chain(80):
            verdict.verify_entry(replace(one, content={}))
        assert (len(verdict.faults), verdict.more_faults, verdict.good) == (MOST_FAULTS, 80 - MOST_FAULTS, False)
