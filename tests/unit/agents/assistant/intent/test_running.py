"""Wishes to run a flow, told by words."""

import pytest

from headgate.agents.assistant.intent.running import asks_to_run, asks_to_run_after


class TestAsksToRun:
    @pytest.mark.parametrize(
        "text",
        [
            "run it",
            "Run the flow",
            "please run this flow with hello",
            "Can you run my flow?",
            "now execute it!",
            "run",
            "kör flödet",
            "OK, go ahead and run it",
        ],
    )
    def test_is_plain(self, text: str) -> None:
        assert asks_to_run(text)

    @pytest.mark.parametrize(
        "text",
        [
            "How do I run the flow?",
            "What does run_flow do?",
            "why did the run fail",
            "what is the run time of this flow?",
            "does it run out of memory?",
            "running costs",
            "runs",
            "explain what happens when it is run",
        ],
    )
    def test_is_not_read_into_questions(self, text: str) -> None:
        assert not asks_to_run(text)


class TestAsksToRunAfter:
    @pytest.mark.parametrize(
        "text",
        [
            "build a RAG flow and run it",
            "make a chatbot, then run the flow",
            "create a summary flow and then please run it with hello",
            "change the model and then test it",
            "bygg ett flöde och kör det",
        ],
    )
    def test_is_seen_after_something_else(self, text: str) -> None:
        assert asks_to_run_after(text)

    @pytest.mark.parametrize("text", ["build a flow that runs a query", "a flow for my run club", "build an echo flow"])
    def test_is_not_read_into_what_a_flow_does(self, text: str) -> None:
        assert not asks_to_run_after(text)
