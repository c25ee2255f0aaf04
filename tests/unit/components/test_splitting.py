"""Cutting texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components import splitting
from headgate.components.splitting import SplitText, split
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness


class TestSplit:
    @pytest.mark.parametrize(
        ("text", "by", "pieces"),
        [
            ("a\nb\r\n\r\n \n c \n", "paragraph", ["a\nb", "c"]),
            ("a\r\nb\n\nc", "line", ["a", "b", "c"]),
            ('He left. "Why?" she asked!  Då gick hon… 終わり。次', "sentence",
             ["He left.", '"Why?"', "she asked!", "Då gick hon…", "終わり。", "次"]),
            ("a;b; ;c", "separator", ["a", "b", "c"]),
            ("", "paragraph", []),
            ("." * 300_000 + "!", "sentence", ["." * 300_000 + "!"]),
        ],
    )  # fmt: skip
    def test_cuts(self, text: str, by: splitting.By, pieces: list[str]) -> None:
        assert split(text, by, ";") == pieces

    def test_prefers_white_space_near_the_end_of_a_chunk(self) -> None:
        assert split("one two three four", "length", size=9) == ["one two", "three", "four"]
        assert split("abcdefghij", "length", size=4, overlap=2) == ["abcd", "cdef", "efgh", "ghij"]

    @given(st.text(st.sampled_from("ab \n"), max_size=80), st.integers(1, 20), st.data())
    def test_chunks_are_bounded_and_lose_nothing_but_white_space(
        self, text: str, size: int, data: st.DataObject
    ) -> None:
        overlap = data.draw(st.integers(0, size - 1))
        chunks = split(text, "length", size=size, overlap=overlap)
        assert all(0 < len(chunk) <= size for chunk in chunks)
        if overlap == 0:
            assert "".join("".join(chunks).split()) == "".join(text.split())


class TestSplitText:
    async def test_gives_pieces_and_their_number(self) -> None:
        outputs = await StepHarness().run(SplitText, {"text": "a\n\nb"})
        assert outputs == {"chunks": ["a", "b"], "count": 2}

    async def test_understands_a_typed_line_break(self) -> None:
        outputs = await StepHarness().run(SplitText, {"text": "a\nb", "by": "separator", "separator": "\\n"})
        assert outputs["chunks"] == ["a", "b"]

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"by": "separator"}, "'separator' is empty"),
            ({"by": "length", "size": 10, "overlap": 10}, "would never end"),
            ({"by": "word"}, "field 'by'"),
            ({"by": "length", "size": 0}, "field 'size'"),
        ],
    )
    async def test_refuses_what_cannot_work(self, values: dict[str, object], words: str) -> None:
        with pytest.raises(ComponentError, match=words):
            await StepHarness().run(SplitText, {"text": "abc", **values})

    async def test_bounds_the_number_of_pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(splitting, "MOST_CHUNKS", 2)
        with pytest.raises(ComponentError, match="produces 3 chunks"):
            await StepHarness().run(SplitText, {"text": "a\n\nb\n\nc"})
