"""Changes of passages: they lead to the new text, whatever is stored, and index only what changed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from headgate.features.knowledge.passages.changes import StoredPassage, changes_of

DIGESTS = st.lists(st.sampled_from("abcdef"), max_size=12)


@st.composite
def states(draw: st.DrawFn) -> tuple[list[StoredPassage], list[str], int]:
    """Passages of earlier generations, and some of an interrupted attempt at the current one."""
    stored = [StoredPassage(number, 1, number, digest) for number, digest in enumerate(draw(DIGESTS))]
    wanted = draw(DIGESTS)
    some = draw(st.lists(st.integers(0, 14), unique=True, max_size=8))
    stored += [
        StoredPassage(100 + place, 2, place, draw(st.sampled_from([*wanted[place : place + 1], "x"]))) for place in some
    ]
    return stored, wanted, 2


class TestChangesOf:
    @given(states())
    def test_lead_to_exactly_the_new_passages(self, case: tuple[list[StoredPassage], list[str], int]) -> None:
        stored, wanted, generation = case
        changes = changes_of(stored, wanted, generation)
        rows = {one.id: (one.generation, one.ordinal, one.digest) for one in stored}
        for id_ in changes.removed:
            del rows[id_]
        for id_, ordinal in changes.moved:
            rows[id_] = (generation, ordinal, rows[id_][2])
        rows |= {1000 + ordinal: (generation, ordinal, wanted[ordinal]) for ordinal in changes.added}
        assert sorted(rows.values()) == [(generation, place, digest) for place, digest in enumerate(wanted)]

    @given(states())
    def test_add_only_what_no_earlier_passage_has(self, case: tuple[list[StoredPassage], list[str], int]) -> None:
        stored, wanted, generation = case
        changes = changes_of(stored, wanted, generation)
        settled = [
            one for one in stored
            if one.generation == generation and one.ordinal < len(wanted) and wanted[one.ordinal] == one.digest
        ]  # fmt: skip
        missing = Counter(wanted) - Counter(one.digest for one in settled)
        missing -= Counter(one.digest for one in stored if one.generation != generation)
        assert len(changes.added) == missing.total()

    def test_of_the_same_text_are_none(self) -> None:
        stored = [StoredPassage(number, 3, number, digest) for number, digest in enumerate("abc")]
        changes = changes_of(stored, list("abc"), 3)
        assert (changes.moved, changes.added, changes.removed, changes.unchanged) == ((), (), (), 3)
