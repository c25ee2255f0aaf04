from headgate.features.knowledge.passages.chunking import digest_of
from headgate.features.knowledge.search.schemas import SearchIn
from headgate.features.knowledge.search.selecting import Part, Place, ordered_by_diversity, part_of, within_limits
from headgate.features.knowledge.tables import PassageRow

TEXT = "".join(f"Sentence {number} stands here. " for number in range(10))
SIZE = len(TEXT) // 10


def passage(id_: int, ordinal: int, *, document: str = "d", generation: int = 1) -> PassageRow:
    """A slice of `TEXT` that overlaps the one before it by five characters."""
    core = ordinal * SIZE
    start, end = max(core - 5, 0), core + SIZE
    text = TEXT[start:end]
    return PassageRow(
        id=id_, document_id=document, generation=generation, ordinal=ordinal, version=1, start=start, core=core,
        end=end, text=text, tokens=10, sha256=digest_of(f"{document}{text}"),
    )  # fmt: skip


def near(*ordinals: int, document: str = "d") -> dict[Place, Part]:
    return {(document, 1, ordinal): part_of(passage(0, ordinal)) for ordinal in ordinals}


def chosen(
    passages: list[PassageRow],
    around: dict[Place, Part],
    *,
    limit: int = 10,
    neighbours: int = 1,
    max_tokens: int = 500,
) -> list[tuple[int, str]]:
    search_in = SearchIn(query="x", limit=limit, neighbours=neighbours, max_tokens=max_tokens)
    by_id = {row.id: row for row in passages}
    return [(one.id, one.part.text) for one in within_limits(list(by_id), by_id, around, search_in)]


class TestNeighbours:
    def test_are_one_slice_of_the_document(self) -> None:
        search_in = SearchIn(query="x", neighbours=2)
        row = passage(1, 4)
        (one,) = within_limits([1], {1: row}, near(2, 3, 5, 6, 7), search_in)
        assert (one.part.start, one.part.end) == (2 * SIZE - 5, 7 * SIZE)
        assert one.part.text == TEXT[one.part.start : one.part.end]
        assert one.part.sha256 == digest_of(one.part.text)

    def test_are_returned_once(self) -> None:
        texts = dict(chosen([passage(1, 4), passage(2, 5), passage(3, 7)], near(3, 4, 5, 6, 8)))
        assert list(texts) == [1, 3]
        assert "Sentence 6" in texts[3]
        assert "Sentence 5" in texts[1]
        assert texts[3].startswith(TEXT[6 * SIZE - 5 : 6 * SIZE + 5])

    def test_of_another_generation_or_with_a_gap_are_left_out(self) -> None:
        gap = near(3, 5)
        gap["d", 1, 5] = part_of(passage(0, 6))
        assert chosen([passage(1, 4, generation=2)], near(3, 5)) == [(1, passage(1, 4).text)]
        ((_, text),) = chosen([passage(1, 4)], gap)
        assert "Sentence 3" in text
        assert "Sentence 6" not in text

    def test_are_left_out_when_the_budget_is_small(self) -> None:
        texts = dict(chosen([passage(1, 4), passage(2, 8)], near(3, 5, 7, 9), max_tokens=50))
        assert "Sentence 5" in texts[1]
        assert texts[2].strip().endswith("Sentence 8 stands here.")
        assert "Sentence 9" not in texts[2]


class TestLimits:
    def test_the_best_is_returned_in_any_case_and_no_text_twice(self) -> None:
        same = passage(2, 4)
        big = passage(1, 4)
        big.tokens = 900
        assert [id_ for id_, _ in chosen([big, same, passage(3, 6)], {}, neighbours=0, max_tokens=910)] == [1, 3]

    def test_the_number_is_kept(self) -> None:
        rows = [passage(number, number) for number in range(1, 9)]
        assert [id_ for id_, _ in chosen(rows, {}, limit=3, neighbours=0)] == [1, 2, 3]


TEXTS = {1: "holiday days per year", 2: "holiday days per year for all", 3: "parking garage", 4: "holiday in the year"}


class TestDiversity:
    def order(self, diversity: float) -> list[int]:
        relevance = {1: 1.0, 2: 0.9, 3: 0.5, 4: 0.4}
        return ordered_by_diversity([1, 2, 3, 4], TEXTS, relevance.__getitem__, diversity)

    def test_none_is_the_order_of_the_ranks(self) -> None:
        assert self.order(0) == [1, 2, 3, 4]

    def test_puts_what_is_unlike_the_best_before_what_repeats_it(self) -> None:
        assert self.order(0.5) == [1, 3, 2, 4]
        assert self.order(1)[:2] == [1, 3]

    def test_of_nothing_is_nothing(self) -> None:
        assert ordered_by_diversity([], {}, lambda _id: 0.0, 0.5) == []
