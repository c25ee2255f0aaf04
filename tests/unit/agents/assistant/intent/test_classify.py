"""Asking a model what a request is."""

import pytest
from langchain_core.outputs import ChatResult

from headgate.agents.assistant.intent.classify import MAX_REQUEST_CHARACTERS, PROMPT, classify
from headgate.agents.assistant.intent.intents import INTENTS
from headgate.agents.assistant.offline.builder import OfflineBuilder
from headgate.agents.assistant.protocol import EDIT_CONTINUATION_INPUT, PLAN_APPROVAL_INPUT
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.models.errors import KeyRejected
from headgate.graph.model import Flow
from tests.support.logs import captured_logs
from tests.support.scripted_model import ScriptedModel, says


def answering(text: str) -> ScriptedModel:
    return ScriptedModel(script=[says(text, tokens=(70, 20))])


class TestClassify:
    async def test_gives_intent_translation_and_tokens(self) -> None:
        model = answering('{"translation": "build a flow", "intent": "build_flow"}')
        found = await classify(model, "bygg ett flöde", structured=False)
        assert (found.intent, found.english) == ("build_flow", "build a flow")
        assert found.tokens.as_json() == {"input_tokens": 70, "output_tokens": 20, "total_tokens": 90}

    @pytest.mark.parametrize(
        "said", ['```json\n{"intent": "off_topic", "translation": "x"}\n```', "off_topic", "no idea", ""]
    )
    async def test_counts_the_tokens_on_every_way_of_reading(self, said: str) -> None:
        assert (await classify(answering(said), "hello", structured=False)).tokens.total == 90

    async def test_sends_the_request_alone(self) -> None:
        model = answering("question")
        await classify(model, "what is a flow?", structured=False)
        assert [message.text for message in model.asked[0]] == [PROMPT, "what is a flow?"]

    async def test_cuts_a_request_that_is_too_long(self) -> None:
        model = answering("question")
        await classify(model, "x" * 50_000, structured=False)
        assert len(model.asked[0][1].text) < MAX_REQUEST_CHARACTERS + 100

    async def test_makes_run_flow_of_a_question_that_says_run(self) -> None:
        model = answering('{"intent": "question", "translation": "Run the flow"}')
        assert (await classify(model, "execute o fluxo", structured=False)).intent == "run_flow"

    async def test_overrules_nothing_but_a_question(self) -> None:
        model = answering('{"intent": "build_flow", "translation": "run it"}')
        assert (await classify(model, "run it", structured=False)).intent == "build_flow"

    async def test_lets_the_providers_errors_through(self) -> None:
        class Refused(ScriptedModel):
            def _generate(self, *_: object, **__: object) -> ChatResult:
                raise KeyRejected("The key was not accepted.", remedy="Give another.")

        with pytest.raises(KeyRejected):
            await classify(Refused(script=[]), "hello", structured=False)

    async def test_asks_in_words_where_the_library_knows_no_schema(self) -> None:
        class Plain(ScriptedModel):
            def with_structured_output(self, *_: object, **__: object) -> None:  # type: ignore[override]
                raise NotImplementedError

        model = Plain(script=[says('{"intent": "run_flow", "translation": "go"}')])
        assert (await classify(model, "go")).intent == "run_flow"


class TestShortCircuits:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            (PLAN_APPROVAL_INPUT, "intent.build_flow.deterministic: plan-approval continuation signal"),
            (f"  {PLAN_APPROVAL_INPUT}\n", "intent.build_flow.deterministic: plan-approval continuation signal"),
            (EDIT_CONTINUATION_INPUT, "intent.build_flow.deterministic: edit-continuation signal"),
        ],
    )
    async def test_ask_no_model_and_say_so(self, text: str, line: str) -> None:
        with captured_logs() as logs:
            found = await classify(ScriptedModel(script=[]), text)
        assert (found.intent, found.tokens.total) == ("build_flow", 0)
        assert [entry["event"] for entry in logs] == [line]

    @pytest.mark.parametrize("text", [f"{PLAN_APPROVAL_INPUT} Thanks!", PLAN_APPROVAL_INPUT.lower(), "proceed"])
    async def test_take_no_other_words(self, text: str) -> None:
        model = answering("off_topic")
        assert (await classify(model, text, structured=False)).intent == "off_topic"
        assert len(model.asked) == 1


class TestPrompt:
    @pytest.mark.parametrize("intent", INTENTS)
    def test_explains_each_intent(self, intent: str) -> None:
        assert f"- `{intent}`: " in PROMPT


class TestOfflineBuilder:
    @pytest.mark.parametrize(
        ("text", "intent"),
        [
            ("fetch https://example.org and save it as page.md", "build_flow"),
            ("what can you do?", "question"),
            ("write a component that reverses a text", "generate_component"),
            ("who won the world cup in 1998?", "off_topic"),
        ],
    )
    def test_tells_by_itself(self, text: str, intent: str) -> None:
        builder = OfflineBuilder(catalog=Registry(BUILTINS), current_flow=Flow)
        assert builder.intent_of(text) == intent
