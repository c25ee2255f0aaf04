"""The real local model, when its weights are on this machine: load, stream, structure, one tool call, a summary."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import psutil
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from headgate.features.models.errors import PromptTooLong
from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.store import default_models_dir
from headgate.features.models.service import create_chat_model
from headgate.sdk import Model
from tests.support.keys import GivenKeys
from tests.support.web import open_web

NAME = "qwen2.5-coder-1.5b"
WEIGHTS = default_models_dir() / f"{NAME}.gguf"
LICENCE = Path(__file__).parents[4] / "LICENSE"

pytestmark = [
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed (extra `local`)"),
    pytest.mark.skipif(not WEIGHTS.is_file(), reason=f"{WEIGHTS} is not there: headgate models pull {NAME}"),
    pytest.mark.timeout(300),
]


class Intent(BaseModel):
    """What the user wants."""

    intent: Literal["build_flow", "edit_flow", "make_component", "product_question", "off_topic"]


def get_weather(city: str) -> str:
    """Current weather for a city."""
    return f"4C, light rain in {city}"


def calculator(expression: str) -> str:
    """Evaluate arithmetic."""
    return expression


@pytest.fixture(scope="module")
def local() -> Iterator[LocalModels]:
    models = LocalModels()
    yield models
    models.close()


async def chat(local: LocalModels, *, max_tokens: int = 100) -> BaseChatModel:
    model = Model(provider="local", name=NAME, params={"temperature": 0, "max_tokens": max_tokens})
    return await create_chat_model(model, GivenKeys(), local=local, web=open_web())


class TestRealModel:
    async def test_streams_words_with_usage(self, local: LocalModels) -> None:
        started = time.monotonic()
        first = 0.0
        pieces = []
        async for piece in (await chat(local, max_tokens=40)).astream("Name two uses of a vector database."):
            first = first or time.monotonic() - started
            pieces.append(piece)
        assert len([piece for piece in pieces if piece.text]) > 10
        usage = next(piece.usage_metadata for piece in reversed(pieces) if piece.usage_metadata)
        assert usage["output_tokens"] > 10
        assert local.server.pid is not None
        memory = psutil.Process(local.server.pid).memory_info().rss / 1e6
        assert first < 60, "seconds to load and to the first piece"
        assert memory < 3000, "megabytes"

    async def test_gives_structured_output(self, local: LocalModels) -> None:
        structured = (await chat(local)).with_structured_output(Intent)
        answer = await structured.ainvoke('Classify the message: "delete the memory node from my flow"')
        assert answer == Intent(intent="edit_flow")

    @pytest.mark.parametrize(
        ("request_", "name"), [("What is the weather in Oslo?", "get_weather"), ("What is 37*481?", "calculator")]
    )
    async def test_calls_the_right_tool(self, local: LocalModels, request_: str, name: str) -> None:
        answer = await (await chat(local)).bind_tools([get_weather, calculator]).ainvoke(request_)
        assert [call["name"] for call in answer.tool_calls] == [name]

    async def test_replies_once_it_has_the_result(self, local: LocalModels) -> None:
        call = {"name": "get_weather", "args": {"city": "Oslo"}, "id": "1", "type": "tool_call"}
        conversation = [
            HumanMessage("What is the weather in Oslo?"),
            AIMessage(content="", tool_calls=[call]),
            ToolMessage("4C, light rain", tool_call_id="1"),
        ]
        answer = await (await chat(local)).bind_tools([get_weather, calculator]).ainvoke(conversation)
        assert answer.tool_calls == []
        assert "4" in answer.text

    async def test_summarises_three_kilobytes(self, local: LocalModels) -> None:
        text = LICENCE.read_text()[:3000]
        answer = await (await chat(local)).ainvoke(f"Say in two sentences what this text is:\n\n{text}")
        assert "licen" in answer.text.lower()

    async def test_says_that_a_prompt_is_too_long(self, local: LocalModels) -> None:
        with pytest.raises(PromptTooLong) as caught:
            await (await chat(local)).ainvoke("word " * 20_000)
        assert "SplitText" in caught.value.remedy
