"""What a model's answer to the question what a request is comes to, however it is wrapped."""

import json

import pytest

from headgate.agents.assistant.intent.classify import read_answer
from headgate.agents.assistant.intent.intents import INTENTS

JSON = '{"translation": "build a flow", "intent": "build_flow"}'


class TestReadAnswer:
    @pytest.mark.parametrize("intent", INTENTS)
    def test_reads_each_intent_as_json(self, intent: str) -> None:
        said = json.dumps({"translation": "in English", "intent": intent})
        assert read_answer(said, "på svenska") == (intent, "in English")

    @pytest.mark.parametrize(
        "said",
        [
            JSON,
            f"  {JSON}\n",
            f"```json\n{JSON}\n```",
            f"```\n{JSON}\n```",
            f"Sure! Here it is:\n```json\n{JSON}\n```\nAnything else?",
            f"The answer is {JSON} because a flow is wanted.",
            JSON.replace("build_flow", " BUILD_FLOW "),
        ],
    )
    def test_finds_the_json_whatever_stands_around_it(self, said: str) -> None:
        assert read_answer(said, "x") == ("build_flow", "build a flow")

    @pytest.mark.parametrize("said", ["generate_component", "**generate_component**", "Intent: GENERATE_COMPONENT."])
    def test_takes_the_one_intent_that_is_named(self, said: str) -> None:
        assert read_answer(said, "the request") == ("generate_component", "the request")

    @pytest.mark.parametrize(
        "said",
        [
            "",
            "I cannot tell.",
            '{"intent": "make_coffee"}',
            "It is build_flow or run_flow.",
            "not_off_topic_at_all",
            "[" * 5000,
            '{"translation": "x", "intent": "build',
        ],
    )
    def test_is_a_question_when_nothing_is_said(self, said: str) -> None:
        assert read_answer(said, "the request") == ("question", "the request")

    def test_keeps_the_request_where_no_translation_came(self) -> None:
        assert read_answer('{"intent": "run_flow", "translation": null}', "kör") == ("run_flow", "kör")

    def test_reads_the_fence_before_other_json(self) -> None:
        said = f'Not {{"intent": "off_topic", "translation": "no"}} but\n```json\n{JSON}\n```'
        assert read_answer(said, "x")[0] == "build_flow"
