"""Words brought to their dictionary forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.catalog.words import base_forms, words


class TestBaseForms:
    @pytest.mark.parametrize(
        ("written", "form"),
        [
            ("copied", "copy"),
            ("addresses", "address"),
            ("matches", "match"),
            ("splitting", "split"),
            ("saved", "save"),
            ("people", "person"),
            ("summarise", "summarize"),
        ],
    )
    def test_holds_the_form_a_dictionary_lists(self, written: str, form: str) -> None:
        assert form in base_forms(written)

    def test_leaves_a_word_that_ends_in_ss_alone(self) -> None:
        assert base_forms("address") == ("address",)

    @given(st.text(max_size=80))
    def test_puts_the_word_itself_first(self, word: str) -> None:
        assert base_forms(word)[0] == word


class TestWords:
    def test_cuts_names_of_types_and_columns(self) -> None:
        assert words("InstalledPackages size_bytes") == ["installed", "packages", "size", "bytes"]

    def test_keeps_hyphens_and_apostrophes_inside(self) -> None:
        assert words("Don't e-mail!") == ["don't", "e-mail"]
