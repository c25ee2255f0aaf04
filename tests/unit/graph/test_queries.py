"""Queries that a model writes: what is read of its answer."""

from headgate.graph.queries import query_instructions, query_prompt, searched_queries

ANSWER = """1. Daily allowance in Oslo
- per diem  Norway

"travel allowance Oslo"
daily allowance in oslo
---"""


class TestSearchedQueries:
    def test_follow_the_question_without_repetitions(self) -> None:
        queries = searched_queries("Allowance in Oslo?", ANSWER, count=5, follows=False)
        assert queries == (
            "Allowance in Oslo?",
            "Daily allowance in Oslo",
            "per diem  Norway",
            "travel allowance Oslo",
        )

    def test_replace_a_question_that_follows_a_conversation(self) -> None:
        assert searched_queries("And in Oslo?", ANSWER, count=2, follows=True) == (
            "Daily allowance in Oslo",
            "per diem  Norway",
        )

    def test_are_the_question_when_the_model_writes_none(self) -> None:
        for answer in ("", "\n---\n", "?"):
            assert searched_queries("And in Oslo?", answer, count=3, follows=True) == ("And in Oslo?",)
            assert searched_queries("And in Oslo?", answer, count=3, follows=False) == ("And in Oslo?",)

    def test_are_limited_in_number_and_length(self) -> None:
        queries = searched_queries(
            "Q", "\n".join(f"{number} " + "x" * 3_000 for number in range(9)), count=3, follows=True
        )
        assert [len(query) for query in queries] == [2_000] * 3

    def test_keep_a_number_that_is_part_of_the_query(self) -> None:
        assert searched_queries("Q", "2026 budget", count=1, follows=True) == ("2026 budget",)


class TestPrompt:
    def test_names_the_number_of_queries(self) -> None:
        assert "write" in query_instructions(1)
        assert "2 more" not in query_instructions(1)
        assert "2 more" in query_instructions(3)

    def test_has_the_conversation_where_there_is_one(self) -> None:
        assert query_prompt("Q", "") == "Question: Q"
        assert query_prompt("Q", "A: Lisbon") == "Conversation:\nA: Lisbon\n\nQuestion: Q"
