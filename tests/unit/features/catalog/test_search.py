"""Lexical search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex, component_index

REGISTRY = Registry(BUILTINS)
INDEX = component_index(REGISTRY)


class TestWordIndex:
    def test_prefers_the_entry_that_shares_the_rarer_word(self) -> None:
        index = WordIndex({"a": [("red apple", 1)], "b": [("red brick", 1)], "c": [("red car", 1)]})
        assert index.search("a red brick")[0].key == "b"

    def test_forgives_a_slip_of_the_keyboard(self) -> None:
        assert WordIndex({"a": [("separator", 1)], "b": [("other", 1)]}).search("seperator")[0].key == "a"

    def test_finds_nothing_for_words_it_does_not_know(self) -> None:
        assert WordIndex({"a": [("apple", 1)]}).search("zebra") == []

    def test_ranks_two_indexes_together_as_one(self) -> None:
        common = {f"c{number}": [("add a row", 1)] for number in range(5)}
        one = WordIndex({**common, "sum": [("add numbers", 1)]})
        own = WordIndex({"sum": [("add numbers", 1)]}, background=WordIndex(common))
        assert own.search("add numbers") == one.search("add numbers")[:1]

    def test_gives_no_more_than_asked_for(self) -> None:
        assert len(INDEX.search("text", most=3)) == 3

    @given(st.text(max_size=300))
    def test_answers_any_query_best_first(self, query: str) -> None:
        scores = [match.score for match in INDEX.search(query)]
        assert scores == sorted(scores, reverse=True)


class TestSearchComponents:
    @pytest.mark.parametrize(
        ("query", "type_"),
        [
            ("fetch a web page", "URL"),
            ("save a file", "SaveFile"),
            ("sql over a table", "TableQuery"),
            ("wait", "Wait"),
            ("route", "Classify"),
            ("classify", "Classify"),
            ("triage", "Classify"),
            ("sort mails", "Classify"),
        ],
    )
    def test_finds_the_component_that_does_it(self, query: str, type_: str) -> None:
        assert type_ in [match.key for match in component_index(REGISTRY).search(query, most=3)]
