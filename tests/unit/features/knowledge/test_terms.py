"""Terms: the same for documents and queries, in every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.knowledge.passages.terms import (
    MOST_QUERY_TERMS,
    content_terms,
    language_of,
    query_terms,
    terms,
    vector_of,
)


class TestTerms:
    @pytest.mark.parametrize(
        ("written", "asked"),
        [
            ("Policies for travel", "policy"),
            ("INVOICES", "invoice"),
            ("請求書の支払い", "請求"),
            ("請求書の支払い", "書"),
            ("Straße", "STRASSE"),
            ("ﬁnance", "finance"),
            ("Årsredovisning", "årsredovisning"),
            ("휴가 정책은", "휴가"),
            ("order-4711/B", "4711"),
        ],
    )
    def test_match_however_they_are_written(self, written: str, asked: str) -> None:
        assert set(query_terms(asked)) <= set(terms(written))

    @given(st.text(max_size=300))
    def test_of_a_query_are_terms_of_the_same_text(self, text: str) -> None:
        found = query_terms(text)
        assert set(found) <= set(terms(text))
        assert len(found) == len(set(found)) <= MOST_QUERY_TERMS

    @given(st.text(max_size=300))
    def test_have_no_sign_that_a_query_language_reads(self, text: str) -> None:
        assert all(sign not in "".join(terms(text)) for sign in "'\"\\:&|!()<>*- \n")

    def test_leave_out_stop_words_unless_there_is_nothing_else(self) -> None:
        assert query_terms("What is the travel policy?") == ["travel", "policy"]
        assert query_terms("what is") == ["what", "i"] or query_terms("what is") == ["what", "is"]
        assert content_terms("Vad är en faktura") == {"faktura"}

    def test_of_a_vector_have_their_positions(self) -> None:
        assert vector_of(terms("a b a")) == "'a':1,3 'b':2"


class TestLanguage:
    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("The rules for travel are in this document, and they are valid for all of us.", "en"),
            ("Det här är regler för resor och de gäller för alla som arbetar med detta.", "sv"),
            ("これは旅行の規則です。", "ja"),
            ("旅行规则适用于所有员工。", "zh"),
            ("여행 규정입니다", "ko"),
            ("4711 0815", ""),
        ],
    )
    def test_is_detected_where_it_is_clear(self, text: str, code: str) -> None:
        assert language_of(text) == code
