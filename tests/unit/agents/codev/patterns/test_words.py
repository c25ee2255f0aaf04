"""The words that patterns are found by."""

from headgate.agents.codev.patterns.service import LONGEST_WORD, MOST_WORDS, stems, weighted


class TestStems:
    def test_join_the_forms_of_a_word(self) -> None:
        assert stems("agents retrieving documents") == stems("an agent retrieves the Document")

    def test_part_the_names_of_components(self) -> None:
        assert stems("chatOpenAI") == stems("chat open AI")

    def test_leave_out_what_says_nothing(self) -> None:
        assert stems("please build me a flow") == []

    def test_are_words_and_nothing_else(self) -> None:
        assert stems("100% _ '; DROP TABLE x --") == ["100", "drop", "tabl", "x"]

    def test_are_cut(self) -> None:
        assert len(stems("a" * 5_000)[0]) == LONGEST_WORD


class TestWeighted:
    def test_takes_the_highest_weight_of_a_word(self) -> None:
        assert weighted([("support bot", 3), ("a bot that answers", 1)]) == {"support": 3, "bot": 3, "answer": 1}

    def test_has_an_end(self) -> None:
        assert len(weighted([(" ".join(f"word{number}x" for number in range(2_000)), 1)])) == MOST_WORDS
