"""Language model and AI step, on LangChain's fakes and on a server speaking OpenAI's protocol."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from headgate.components import chat as chat_module
from headgate.components.ai import AIStep, LanguageModel, composed
from headgate.foundation.errors import Cancelled, NotFound, UpstreamFailed
from headgate.sdk import ComponentError, Message, Model, Table
from headgate.sdk.testing import StepHarness
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_model import ScriptedModel, says
from tests.unit.components.readers.samples import pdf

MODEL = {"provider": "openai", "name": "gpt-5-mini", "params": {"top_p": 0.5}}


def saying(*answers: str, **options: Any) -> StepHarness:
    return StepHarness(chat_model=GenericFakeChatModel(messages=iter(answers)), **options)


def failing(error: Exception) -> StepHarness:
    model = ScriptedModel(script=[])
    model.script.append(error)  # the constructor would look for a message in it
    return StepHarness(chat_model=model)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def over_the_wire(server: OpenAIServer) -> ChatOpenAI:
    return ChatOpenAI(
        model="scripted", base_url=server.base_url, api_key=SecretStr("sk-test"), stream_usage=True, max_retries=0
    )


class TestLanguageModel:
    async def test_streams_the_answer_and_keeps_the_evidence(self) -> None:
        harness = StepHarness(chat_model=ScriptedModel(script=[says("Hi there you", tokens=(10, 5))]))
        outputs = await harness.run(LanguageModel, {"model": MODEL, "input": "Hello", "system": "Be kind."})
        assert outputs["text"] == "Hi there you "
        assert outputs["message"] == Message(role="assistant", text="Hi there you ")
        assert harness.ctx.tokens == ["Hi ", "there ", "you "]
        assert harness.ctx.prompts == ["system: Be kind.\n\nuser: Hello"]
        assert harness.ctx.usage == [("openai/gpt-5-mini", 10, 5)]

    async def test_works_with_models_that_count_nothing(self) -> None:
        harness = saying("Hello to you")
        outputs = await harness.run(LanguageModel, {"model": "openai/x", "input": "Hi"}, outputs=["text"])
        assert outputs["text"] == "Hello to you"
        assert harness.ctx.usage == [("openai/x", None, None)]

    async def test_gives_its_model_without_asking_it(self) -> None:
        harness = StepHarness()
        outputs = await harness.run(LanguageModel, {"model": MODEL, "temperature": 0.2}, outputs=["model"])
        assert outputs["model"] == Model(
            provider="openai", name="gpt-5-mini", params={"top_p": 0.5, "temperature": 0.2}
        )
        assert harness.ctx.models == []

    async def test_sends_files_of_a_message_along(self) -> None:
        model = ScriptedModel(script=[says("ok")])
        files = {"a.png": b"\x89PNG", "b.csv": b"k\nv\n", "c.pdf": pdf("page text"), "scan.pdf": pdf("")}
        harness = StepHarness(chat_model=model, files=files)
        message = Message(text="Look", files=harness.ctx.input.files)
        await harness.run(LanguageModel, {"model": MODEL, "input": message}, outputs=["text"])
        blocks: list[Any] = list(model.asked[0][-1].content)
        encoded = base64.b64encode(b"\x89PNG").decode()
        assert blocks[:2] == [
            {"type": "text", "text": "Look"},
            {"type": "image", "base64": encoded, "mime_type": "image/png"},
        ]
        assert [block["type"] for block in blocks[2:]] == ["text", "text", "file"]
        assert "| v |" in blocks[2]["text"]
        assert "page text" in blocks[3]["text"]
        assert "[a.png, image/png, 4 bytes]" in harness.ctx.prompts[0]

    async def test_has_nothing_to_send(self) -> None:
        with pytest.raises(ComponentError, match="nothing to send"):
            await saying("x").run(LanguageModel, {"model": MODEL, "input": " "}, outputs=["text"])

    @pytest.mark.parametrize(
        "values", [{}, {"model": ""}, {"model": None}, {"model": "gpt"}, {"model": {"provider": "x"}}]
    )
    async def test_says_how_to_add_a_model(self, values: dict[str, Any]) -> None:
        with pytest.raises(ComponentError) as caught:
            await StepHarness().run(LanguageModel, {"input": "Hi", **values})
        assert "'model" in caught.value.detail
        assert "headgate models" in caught.value.remedy

    async def test_wraps_what_a_library_raises_with_its_deepest_cause(self) -> None:
        deep = RuntimeError("outer")
        deep.__cause__ = ConnectionError("name resolution failed")
        harness = failing(deep)
        with pytest.raises(UpstreamFailed, match="openai/gpt-5-mini failed: name resolution failed"):
            await harness.run(LanguageModel, {"model": MODEL, "input": "Hi"}, outputs=["text"])

    async def test_lets_headgates_own_errors_through(self) -> None:
        harness = failing(NotFound("no key"))
        with pytest.raises(NotFound, match="no key"):
            await harness.run(LanguageModel, {"model": MODEL, "input": "Hi"}, outputs=["text"])

    async def test_refuses_an_empty_answer(self) -> None:
        harness = StepHarness(chat_model=ScriptedModel(script=[AIMessage(content="")]))
        with pytest.raises(UpstreamFailed, match="returned an empty answer"):
            await harness.run(LanguageModel, {"model": MODEL, "input": "Hi"}, outputs=["text"])

    async def test_stops_streaming_when_cancelled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(chat_module, "_SECONDS_BETWEEN_LOOKS", -1.0)
        harness = saying("one two three")
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(LanguageModel, {"model": MODEL, "input": "Hi"}, outputs=["text"])
        assert harness.ctx.tokens == []


class TestAIStep:
    async def test_puts_the_input_behind_the_prompt(self) -> None:
        model = ScriptedModel(script=[says("Short")])
        harness = StepHarness(chat_model=model)
        rows = Table(columns=["a"], rows=[[1]])
        outputs = await harness.run(AIStep, {"prompt": "Summarise. ", "model": MODEL, "input": rows})
        assert outputs == {"output": "Short ", "data": "Short "}
        assert model.asked[0][0].text == "Summarise.\n\n<input>\n| a |\n| --- |\n| 1 |\n</input>"
        assert len(model.asked) == 1

    async def test_parses_json_out_of_fences(self) -> None:
        model = ScriptedModel(script=[says('```json\n{"a": [1]}\n```')])
        harness = StepHarness(chat_model=model)
        outputs = await harness.run(AIStep, {"prompt": "P", "model": MODEL, "output_type": "json"})
        assert outputs == {"output": '{\n  "a": [\n    1\n  ]\n}', "data": {"a": [1]}}
        assert "JSON only" in model.asked[0][-1].text

    async def test_quotes_an_answer_that_is_no_json(self) -> None:
        harness = saying("I am sorry, Dave. I cannot do that.")
        with pytest.raises(ComponentError) as caught:
            await harness.run(AIStep, {"prompt": "P", "model": MODEL, "output_type": "json"})
        assert "should have answered with JSON" in caught.value.detail
        assert "Its answer: I am sorry, Dave." in caught.value.detail

    async def test_sends_its_temperature(self) -> None:
        harness = saying("ok")
        await harness.run(AIStep, {"prompt": "P", "model": MODEL, "temperature": 0})
        assert harness.ctx.models[0].params == {"top_p": 0.5, "temperature": 0}


class TestOverTheWire:
    async def test_streams_from_a_real_client(self, server: OpenAIServer) -> None:
        server.script(server.text("A summary of it.", tokens=(21, 4)))
        harness = StepHarness(chat_model=over_the_wire(server))
        outputs = await harness.run(
            AIStep, {"prompt": "Summarise.", "model": MODEL, "input": "long", "system": "Short."}
        )
        assert outputs["output"] == "A summary of it."
        assert harness.ctx.tokens == ["A summ", "ary of", " it."]
        assert harness.ctx.usage == [("openai/gpt-5-mini", 21, 4)]
        (asked,) = server.asked
        assert asked.body["stream"] is True
        assert asked.body["messages"] == [
            {"content": "Short.", "role": "system"},
            {"content": "Summarise.\n\n<input>\nlong\n</input>", "role": "user"},
        ]

    async def test_takes_no_part_of_an_answer_for_the_answer(self, server: OpenAIServer) -> None:
        server.script(server.text("Half a", finish="length"))
        harness = StepHarness(chat_model=over_the_wire(server))
        with pytest.raises(UpstreamFailed, match=r"reached its output limit.*It ended with: \.\.\.Half a") as caught:
            await harness.run(AIStep, {"prompt": "P", "model": MODEL})
        assert "max_tokens" in caught.value.remedy
        assert harness.ctx.usage == [("openai/gpt-5-mini", 7, 3)]

    async def test_names_a_rejected_key(self, server: OpenAIServer) -> None:
        server.script(server.wrong_key("Incorrect API key provided."))
        harness = StepHarness(chat_model=over_the_wire(server))
        with pytest.raises(UpstreamFailed, match="Incorrect API key provided"):
            await harness.run(AIStep, {"prompt": "P", "model": MODEL})

    async def test_sends_images_as_the_protocol_wants(self, server: OpenAIServer) -> None:
        server.script(server.text("A cat."))
        harness = StepHarness(chat_model=over_the_wire(server), files={"a.png": b"\x89PNG"})
        message = Message(text="What is it?", files=harness.ctx.input.files)
        await harness.run(LanguageModel, {"model": MODEL, "input": message}, outputs=["text"])
        parts = server.asked[0].body["messages"][0]["content"]
        assert parts[1]["image_url"]["url"].startswith("data:image/png;base64,")


class TestComposed:
    def test_leaves_out_what_is_empty(self) -> None:
        assert composed(" P ", None, as_json=False, marks=()) == "P"
        assert composed("P", "", as_json=False, marks=()) == "P"
        assert composed("P", Message(text="m"), as_json=False, marks=()) == "P\n\n<input>\nm\n</input>"
