import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.graph.names import clipped, did_you_mean, free_name, listed, nearest


class TestNearest:
    @pytest.mark.parametrize(
        ("name", "candidates", "expected"),
        [
            ("inputs", ["prompt", "input", "model"], "input"),
            ("AIstep", ["AIStep", "URL"], "AIStep"),
            ("chat_input", ["ChatInput", "ChatOutput"], "ChatInput"),
            ("htp_get", ["http_post", "http_get"], "http_get"),
            ("response_text", ["calls", "response"], "response"),
            ("xyzzy", ["input", "model"], None),
            ("", ["input"], None),
            ("input", [], None),
        ],
    )
    def test_finds_what_was_meant(self, name: str, candidates: list[str], expected: str | None) -> None:
        assert nearest(name, candidates) == expected

    def test_can_be_strict(self) -> None:
        assert nearest("image", ["page"]) == "page"
        assert nearest("image", ["page"], at_least=80) is None

    def test_takes_no_id_for_a_slip_of_another(self) -> None:
        ids = ["01a22abc-ef51-719f-9844-85364217614d", "Mail"]
        assert nearest("01a22abc-ef51-719f-9844-85364217614e", ids) is None

    def test_takes_a_hostile_name_quickly(self) -> None:
        assert nearest("x" * 1_000_000, [f"name_{number}" for number in range(1000)]) is None


class TestDidYouMean:
    def test_asks_only_when_something_is_near(self) -> None:
        assert did_you_mean("inputs", ["input"]) == "; did you mean 'input'?"
        assert did_you_mean("xyzzy", ["input"]) == ""


class TestListed:
    def test_counts_what_it_leaves_out(self) -> None:
        assert listed("abcd", most=2) == "a, b and 2 more"
        assert listed("ab") == "a, b"
        assert listed([]) == "none"


class TestFreeName:
    def test_counts_up(self) -> None:
        assert free_name("url", []) == "url"
        assert free_name("url", ["url", "url_2"]) == "url_3"

    def test_stays_within_the_length_of_an_id(self) -> None:
        assert free_name("a" * 64, ["a" * 64]) == "a" * 62 + "_2"


class TestClipped:
    @given(st.text(max_size=300), st.integers(5, 80))
    def test_is_one_line_that_fits(self, text: str, width: int) -> None:
        found = clipped(text, width)
        assert len(found) <= width
        assert "\n" not in found

    def test_marks_what_it_cut(self) -> None:
        assert clipped("one  two\nthree", 40) == "one two three"
        assert clipped("abcdefgh", 5) == "abcd…"
