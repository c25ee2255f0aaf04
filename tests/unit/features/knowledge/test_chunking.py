"""Passages of any text: complete, in order, bounded and exact."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.knowledge.passages.chunking import WHOLE_TABLES, count_tokens, divide

LINES = st.sampled_from(
    [
        *(
            "# Title",
            "## Part",
            "### Detail #",
            "text of a sentence. And one more!",
            "| a | b |",
            "|---|---|",
            "| 1 | 2 |",
        ),
        *(
            "```",
            "code()",
            "",
            "   ",
            "\t",
            "日本語の文章です。次の文。",
            "x" * 200,
            "word " * 60,
            "\r",
            "…" * 50,
            "a\x0bb",
        ),
    ]
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join) | st.text(max_size=400)


@st.composite
def divided(draw: st.DrawFn) -> tuple[str, tuple[int, ...], int, int]:
    text = draw(TEXTS)
    cuts = draw(st.lists(st.integers(0, max(len(text), 1)), max_size=4))
    pages = (0, *sorted(set(cuts) - {0})) if cuts else ()
    return text, pages, draw(st.integers(5, 60)), draw(st.integers(0, 20))


class TestDivide:
    @given(divided())
    def test_puts_every_character_in_the_core_of_exactly_one_passage(
        self, case: tuple[str, tuple[int, ...], int, int]
    ) -> None:
        text, pages, most, overlap = case
        chunks = divide(text, pages=pages, most_tokens=most, overlap_tokens=overlap)
        assert "".join(text[chunk.core : chunk.end] for chunk in chunks) == (text if text.strip() else "")
        assert all(first.end == second.core for first, second in pairwise(chunks))
        assert all(chunk.start <= chunk.core < chunk.end for chunk in chunks)

    @given(divided())
    def test_keeps_passages_within_their_size_and_page(self, case: tuple[str, tuple[int, ...], int, int]) -> None:
        text, pages, most, overlap = case
        edges = [0, *(page for page in pages if 0 < page < len(text)), len(text)]
        chunks = divide(text, pages=pages, most_tokens=most, overlap_tokens=overlap)
        for first, second in pairwise([None, *chunks]):
            assert second is not None
            is_table = "|" in text[second.core : second.end]
            limit = most * WHOLE_TABLES if is_table else most
            assert count_tokens(text, second.core, second.end) <= limit + most // 4 + 5
            assert count_tokens(text, second.start, second.core) <= overlap
            if pages:
                begin, end = sorted(set(edges))[(second.page or 1) - 1 : (second.page or 1) + 1]
                assert begin <= second.start
                assert second.end <= end
            else:
                assert second.page is None
            if first is not None:
                assert second.start >= first.core

    @given(divided())
    def test_is_the_same_every_time(self, case: tuple[str, tuple[int, ...], int, int]) -> None:
        text, pages, most, overlap = case
        assert divide(text, pages=pages, most_tokens=most, overlap_tokens=overlap) == divide(
            text, pages=pages, most_tokens=most, overlap_tokens=overlap
        )

    def test_begins_a_passage_at_a_heading_and_keeps_the_path(self) -> None:
        text = "# Leave\n\n" + "Holiday is 25 days. " * 10 + "\n\n## Illness\n\n" + "Call your manager. " * 10
        chunks = divide(text, most_tokens=60, overlap_tokens=10)
        assert [chunk.headings for chunk in chunks] == [("Leave",), ("Leave", "Illness")]
        assert text[chunks[1].start :].startswith("## Illness")

    def test_keeps_a_table_whole(self) -> None:
        table = "| city | days |\n|---|---|\n" + "".join(f"| c{number} | {number} |\n" for number in range(12))
        chunks = divide("Before it.\n\n" + table + "\nAfter it.", most_tokens=60, overlap_tokens=0)
        assert sum(table in f"Before it.\n\n{table}\nAfter it."[chunk.start : chunk.end] for chunk in chunks) == 1

    def test_divides_a_large_table_at_rows_and_repeats_its_header_as_context(self) -> None:
        table = "| city | days |\n|---|---|\n" + "".join(f"| c{number} | {number} |\n" for number in range(200))
        chunks = divide(table, most_tokens=60, overlap_tokens=0)
        assert len(chunks) > 5
        assert all(table[chunk.core] == "|" for chunk in chunks)
        assert {chunk.context for chunk in chunks[1:]} == {"| city | days |"}

    def test_ends_passages_after_sentences(self) -> None:
        text = "This is a sentence of eight words here. " * 40
        assert all(text[chunk.end - 2] == "." for chunk in divide(text, most_tokens=50, overlap_tokens=5))

    @pytest.mark.parametrize("text", ["", " \n\t ", "\n" * 1000])
    def test_gives_nothing_for_a_blank_text(self, text: str) -> None:
        assert divide(text) == []
