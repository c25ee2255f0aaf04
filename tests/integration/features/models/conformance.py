"""What every provider must do: one suite, run on each adapter behind its real client library and its real protocol."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from pydantic import BaseModel, JsonValue

from headgate.features.models import errors
from headgate.features.models.service import create_chat_model
from headgate.foundation.errors import HeadgateError
from headgate.sdk import Model
from tests.support.keys import GivenKeys
from tests.support.scripted_server import Reply, Script, ScriptedServer, json_reply
from tests.support.web import open_web

KEY = "correct-horse-battery-staple"
"""A key that has not the shape of one: only knowing it can hide it."""


class ProviderServer(Protocol):
    """What a provider's scripted server can be told to answer."""

    asked: list[Any]

    @property
    def base_url(self) -> str: ...
    def script(self, *scripts: Script | Reply) -> Any: ...
    def text(self, text: str, *, tokens: tuple[int, int] = ...) -> Script: ...
    def tool_call(self, name: str, arguments: Mapping[str, Any], *, tokens: tuple[int, int] = ...) -> Script: ...
    def structured(self, value: Mapping[str, Any]) -> Script: ...
    def wrong_key(self, message: str) -> Reply: ...
    def no_such_model(self, name: str) -> Reply: ...
    def rate_limited(self, seconds: int) -> Reply: ...
    def out_of_money(self) -> Reply: ...
    def too_long(self) -> Reply: ...
    def overloaded(self) -> Reply: ...
    def stream_error(self) -> Reply: ...
    def reset_half_way(self) -> Reply: ...
    def cut_off(self) -> Reply: ...
    def slow(self, seconds: float) -> Reply: ...
    def slow_stream(self, seconds: float) -> Reply: ...


@dataclass(frozen=True)
class Adapter:
    """A provider under test: its server, and the variables that lead to it."""

    name: str
    server: Callable[[], ScriptedServer]
    provider: str
    model: str
    key_variable: str
    address_variable: str
    key_header: str
    key_prefix: str = ""
    params: Mapping[str, JsonValue] = field(default_factory=dict)


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


def get_weather(city: str) -> str:
    """Current weather for a city."""
    return f"4 degrees in {city}"


@dataclass
class Rig:
    """An adapter with its server running."""

    adapter: Adapter
    server: ProviderServer

    async def model(self, **params: JsonValue) -> BaseChatModel:
        return await self.model_at(self.server.base_url, **params)

    async def model_at(self, address: str, **params: JsonValue) -> BaseChatModel:
        keys = GivenKeys(**{self.adapter.key_variable: KEY, self.adapter.address_variable: address})
        settings: dict[str, JsonValue] = {"max_retries": 0, "timeout_seconds": 5, **self.adapter.params, **params}
        return await create_chat_model(
            Model(provider=self.adapter.provider, name=self.adapter.model, params=settings), keys, web=open_web()
        )

    async def failure(self, *replies: Script | Reply, stream: bool = False, **params: JsonValue) -> HeadgateError:
        """What a call raises when the server answers so. Checks that no message and no cause shows the key."""
        self.server.script(*replies)
        model = await self.model(**params)
        with pytest.raises(HeadgateError) as caught:
            await (_read(model) if stream else model.ainvoke("Hello"))
        told = f"{caught.value} {caught.value.problem()} {caught.value.__cause__!r}"
        assert KEY not in told
        return caught.value


async def _read(model: BaseChatModel) -> None:
    async for _ in model.astream("Hello"):
        pass


class ChatModelConformance:
    """Subclass it with a fixture `rig`."""

    async def test_answers_in_words_and_counts_tokens(self, rig: Rig) -> None:
        rig.server.script(rig.server.text("Oslo is cold.", tokens=(11, 4)))
        answer = await (await rig.model()).ainvoke("Hello")
        assert answer.text == "Oslo is cold."
        assert isinstance(answer, AIMessage)
        assert answer.usage_metadata is not None
        assert (answer.usage_metadata["input_tokens"], answer.usage_metadata["output_tokens"]) == (11, 4)

    async def test_sends_the_key_where_the_protocol_wants_it(self, rig: Rig) -> None:
        rig.server.script(rig.server.text("Hi"))
        await (await rig.model()).ainvoke("Hello")
        assert rig.server.asked[0].headers[rig.adapter.key_header] == rig.adapter.key_prefix + KEY

    async def test_sends_parameters_under_the_names_of_the_protocol(self, rig: Rig) -> None:
        rig.server.script(rig.server.text("Hi"))
        await (await rig.model(temperature=0.5, max_tokens=77)).ainvoke("Hello")
        body = rig.server.asked[0].body
        assert body["model"] == rig.adapter.model
        assert body["temperature"] == 0.5
        assert 77 in {body.get("max_tokens"), body.get("max_completion_tokens")}

    async def test_streams_in_pieces_with_usage(self, rig: Rig) -> None:
        rig.server.script(rig.server.text("One two three", tokens=(11, 4)))
        pieces: list[AIMessageChunk] = [piece async for piece in (await rig.model()).astream("Count")]
        assert "".join(piece.text for piece in pieces) == "One two three"
        assert len([piece for piece in pieces if piece.text]) == 3
        whole = pieces[0]
        for piece in pieces[1:]:
            whole += piece
        assert whole.usage_metadata is not None
        assert (whole.usage_metadata["input_tokens"], whole.usage_metadata["output_tokens"]) == (11, 4)

    async def test_calls_a_tool(self, rig: Rig) -> None:
        rig.server.script(rig.server.tool_call("get_weather", {"city": "Oslo"}))
        answer = await (await rig.model()).bind_tools([get_weather]).ainvoke("Weather in Oslo?")
        assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("get_weather", {"city": "Oslo"})]
        assert answer.tool_calls[0]["id"]

    async def test_calls_a_tool_when_streamed(self, rig: Rig) -> None:
        rig.server.script(rig.server.tool_call("get_weather", {"city": "Oslo"}, tokens=(9, 5)))
        whole: AIMessageChunk | None = None
        async for piece in (await rig.model()).bind_tools([get_weather]).astream("Weather in Oslo?"):
            assert isinstance(piece, AIMessageChunk)
            whole = piece if whole is None else whole + piece
        assert whole is not None
        assert [(call["name"], call["args"]) for call in whole.tool_calls] == [("get_weather", {"city": "Oslo"})]
        assert whole.usage_metadata is not None
        assert whole.usage_metadata["output_tokens"] == 5

    async def test_takes_the_result_of_a_tool(self, rig: Rig) -> None:
        rig.server.script(rig.server.text("It is 4 degrees."))
        call = {"name": "get_weather", "args": {"city": "Oslo"}, "id": "call_1", "type": "tool_call"}
        conversation = [
            HumanMessage("Weather in Oslo?"),
            AIMessage(content="", tool_calls=[call]),
            ToolMessage("4 degrees", tool_call_id="call_1"),
        ]
        answer = await (await rig.model()).ainvoke(conversation)
        assert answer.text == "It is 4 degrees."
        assert "4 degrees" in str(rig.server.asked[0].body)

    async def test_gives_structured_output(self, rig: Rig) -> None:
        rig.server.script(rig.server.structured({"city": "Oslo", "degrees": 4}))
        answer = await (await rig.model()).with_structured_output(Weather).ainvoke("Weather in Oslo?")
        assert answer == Weather(city="Oslo", degrees=4)

    async def test_names_the_variable_of_a_key_that_is_rejected(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.wrong_key("That key is wrong."))
        assert isinstance(error, errors.KeyRejected)
        assert "That key is wrong." in error.detail
        assert rig.adapter.key_variable in error.remedy
        assert error.extra["variable"] == rig.adapter.key_variable

    async def test_hides_a_key_that_the_server_repeats(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.wrong_key(f"Incorrect key provided: {KEY}, sk-proj-abcdef123456."))
        assert "Incorrect key provided" in error.detail
        assert "sk-proj-abcdef123456" not in str(error)

    async def test_says_how_long_to_wait_when_rate_limited(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.rate_limited(17))
        assert isinstance(error, errors.ModelRateLimited)
        assert error.extra["retry_after_seconds"] == 17
        assert "17 seconds" in error.remedy

    async def test_tries_again_by_itself_when_told_to(self, rig: Rig) -> None:
        rig.server.script(rig.server.rate_limited(0), rig.server.text("Hi"))
        answer = await (await rig.model(max_retries=1)).ainvoke("Hello")
        assert answer.text == "Hi"
        assert len(rig.server.asked) == 2

    async def test_tells_an_empty_account_from_a_rate_limit(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.out_of_money())
        assert isinstance(error, errors.QuotaExhausted)
        assert "billing" in error.remedy

    async def test_names_a_model_that_is_not_there(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.no_such_model(rig.adapter.model))
        assert isinstance(error, errors.ModelNotAccessible)
        assert rig.adapter.model in error.detail

    async def test_knows_a_prompt_that_is_too_long(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.too_long())
        assert isinstance(error, errors.PromptTooLong)
        assert "tokens" in error.detail

    @pytest.mark.parametrize("stream", [False, True])
    async def test_says_that_the_provider_is_at_fault(self, rig: Rig, stream: bool) -> None:
        error = await rig.failure(rig.server.overloaded(), stream=stream)
        assert isinstance(error, errors.ModelCallFailed)
        assert "overloaded" in error.detail.lower()
        assert "Try again" in error.remedy

    @pytest.mark.parametrize(
        "body", [b'{"half": ', b"null", b"[]", b"{}", b"plain words"], ids=["cut", "null", "list", "empty", "words"]
    )
    async def test_refuses_a_body_that_is_no_answer(self, rig: Rig, body: bytes) -> None:
        error = await rig.failure(Reply((body,)))
        assert isinstance(error, errors.BrokenModelAnswer)
        assert rig.adapter.model in error.detail

    async def test_does_not_quote_a_web_page(self, rig: Rig) -> None:
        page = b"<!DOCTYPE html><html><body>Sign in to the hotel network</body></html>"
        error = await rig.failure(Reply((page,), media_type="text/html"))
        assert isinstance(error, errors.BrokenModelAnswer)
        assert "hotel" not in str(error)

    @pytest.mark.parametrize("status", [404, 500, 502])
    async def test_makes_something_of_an_error_without_words(self, rig: Rig, status: int) -> None:
        error = await rig.failure(Reply((b"<html>nginx</html>",), status=status, media_type="text/html"))
        assert isinstance(error, errors.ModelCallFailed)
        assert "nginx" not in str(error)

    async def test_gives_up_on_a_slow_server(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.slow(10), timeout_seconds=0.3)
        assert isinstance(error, errors.ModelTimedOut)
        assert "0.3 seconds" in error.detail
        assert "timeout_seconds" in error.remedy

    async def test_gives_up_on_a_stream_that_stalls(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.slow_stream(10), stream=True, timeout_seconds=0.3)
        assert isinstance(error, errors.ModelTimedOut)

    async def test_notices_a_connection_that_breaks_in_a_stream(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.reset_half_way(), stream=True)
        assert isinstance(error, errors.ModelUnreachable)
        assert "before the answer" in error.detail

    async def test_notices_a_stream_that_ends_too_soon(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.cut_off(), stream=True)
        assert isinstance(error, errors.ModelUnreachable)
        assert "before the answer" in error.detail

    async def test_notices_an_error_inside_a_stream(self, rig: Rig) -> None:
        error = await rig.failure(rig.server.stream_error(), stream=True)
        assert isinstance(error, errors.ModelCallFailed)
        assert error.remedy

    async def test_says_that_nobody_listens(self, rig: Rig) -> None:
        model = await rig.model_at("http://127.0.0.1:9")
        with pytest.raises(errors.ModelUnreachable) as caught:
            await model.ainvoke("Hello")
        assert "cannot be reached" in caught.value.detail

    async def test_refuses_a_request_the_provider_calls_wrong(self, rig: Rig) -> None:
        reply = json_reply(
            {"error": {"message": "Unknown field 'colour'.", "type": "invalid_request_error"}}, status=400
        )
        error = await rig.failure(reply)
        assert isinstance(error, errors.RequestRefused)
        assert "Unknown field 'colour'." in error.detail

    async def test_translates_failures_of_blocking_calls_too(self, rig: Rig) -> None:
        rig.server.script(rig.server.wrong_key("No."))
        model = await rig.model()
        with pytest.raises(errors.KeyRejected):
            await asyncio.to_thread(model.invoke, "Hello")
        with pytest.raises(errors.KeyRejected):
            await asyncio.to_thread(lambda: list(model.stream("Hello")))

    async def test_shows_no_key_when_printed(self, rig: Rig) -> None:
        model = await rig.model()
        assert KEY not in f"{model!r} {model!s} {model.asdict()}"
