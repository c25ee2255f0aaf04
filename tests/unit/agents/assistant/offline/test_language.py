"""Tokens, clauses and second thoughts."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.assistant.offline.language.corrections import without_second_thoughts
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import segments
from headgate.agents.assistant.offline.language.tokens import LONGEST_REQUEST, Kind, as_number, tokenize


def kept(text: str) -> str:
    """The words that stand after second thoughts."""
    return " ".join(token.text for token in without_second_thoughts(tokenize(text))[0])


class TestTokenize:
    @pytest.mark.parametrize(
        ("text", "kind", "value"),
        [
            ("https://example.org/a.", Kind.URL, "https://example.org/a"),
            ("emails.csv", Kind.FILE, "emails.csv"),
            ("'two words'", Kind.QUOTED, "two words"),
            ("10 000", Kind.NUMBER, 10000),
            ("12*(3+4)", Kind.FORMULA, "12*(3+4)"),
            ("results[0].name", Kind.PATH, "results[0].name"),
            ("ann@example.org", Kind.EMAIL, "ann@example.org"),
        ],
    )
    def test_reads_literals(self, text: str, kind: Kind, value: object) -> None:
        assert (tokenize(text)[0].kind, tokenize(text)[0].value) == (kind, value)

    def test_takes_a_date_for_no_calculation(self) -> None:
        assert all(token.kind is not Kind.FORMULA for token in tokenize("on 12/10/2024"))

    def test_reads_no_more_than_a_request_may_hold(self) -> None:
        assert tokenize("word " * LONGEST_REQUEST)[-1].end <= LONGEST_REQUEST

    @given(st.text(max_size=300))
    def test_keeps_tokens_in_order_and_within_the_text(self, text: str) -> None:
        tokens = tokenize(text)
        assert all(0 <= token.start <= token.end <= len(text) for token in tokens)
        assert all(one.end <= other.start for one, other in itertools.pairwise(tokens))


class TestAsNumber:
    @pytest.mark.parametrize(("text", "value"), [("10,000", 10000), ("2,5", 2.5), ("2.5", 2.5), ("1 000 000", 1e6)])
    def test_reads_numbers_as_people_write_them(self, text: str, value: float) -> None:
        assert as_number(text) == value


class TestSecondThoughts:
    @pytest.mark.parametrize(
        ("text", "stands"),
        [
            ("top 10, sorry, top 20", "top 20"),
            ("save it as a.md, no b.md", "save it as b.md"),
            ("count the words, I mean the lines", "count the lines"),
            ("split it. Scratch that: count it", "count it"),
        ],
    )
    def test_replace_what_they_take_back(self, text: str, stands: str) -> None:
        assert kept(text) == stands

    @pytest.mark.parametrize("text", ["keep those with a name, no empty lines", "Is it big? yes: say a. no: say b"])
    def test_are_not_seen_in_every_no(self, text: str) -> None:
        assert kept(text) == " ".join(token.text for token in tokenize(text))

    @given(st.lists(st.sampled_from(["no", ",", "sorry", "i mean", "top", "5", "a.csv", ".", "scratch that", "save"])))
    def test_never_add_a_word(self, parts: list[str]) -> None:
        tokens = tokenize(" ".join(parts))
        assert set(without_second_thoughts(tokens)[0]) <= set(tokens)


class TestSegments:
    def test_cut_at_what_links_clauses(self) -> None:
        reading = Reading("take the text, count the words, then save the count as n.txt")
        assert [clause.link for clause in segments(reading)] == ["start", "next", "then"]

    def test_name_a_condition_and_its_opposite(self) -> None:
        reading = Reading("if it contains ERROR say bad, otherwise say fine")
        assert {"if", "else"} <= {clause.link for clause in segments(reading)}

    def test_do_not_cut_an_enumeration(self) -> None:
        assert len(segments(Reading("list name, version and licence"))) == 1

    @given(st.text(max_size=200))
    def test_stay_in_order_and_within_the_request(self, text: str) -> None:
        reading = Reading(text)
        clauses = segments(reading)
        assert all(0 <= clause.start <= clause.end <= len(reading) for clause in clauses)
        assert all(one.end <= other.start for one, other in itertools.pairwise(clauses))
