"""The model of a session, at the wire of the providers, and how it is chosen."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from headgate.agents.codev.domain import DomainTool, Phase
from headgate.agents.codev.ports import ModelAnswer, Reasoning
from headgate.agents.codev.reasoning.chooser import ReasoningChooser
from headgate.agents.codev.reasoning.errors import NoReasoningModel
from headgate.agents.codev.reasoning.model import ModelReasoning
from headgate.agents.codev.workflow.messages import answered, tool_answer, user_message
from headgate.features.access.principal import Principal
from headgate.features.models import service
from headgate.features.models.errors import BrokenModelAnswer, KeyRejected, ModelRateLimited, ModelUnreachable
from headgate.features.models.setup.roles import environment_roles
from headgate.features.models.setup.values import ModelSetup
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import CodevSettings, ModelSettings
from headgate.sdk import Model
from tests.integration.features.models.test_providers import ToollessServer
from tests.support.anthropic_server import AnthropicServer
from tests.support.keys import GivenKeys
from tests.support.openai_server import OpenAIServer
from tests.support.web import open_web

pytestmark = pytest.mark.timeout(60)

LOOK = DomainTool(
    "look",
    "Looks something up.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    frozenset({Phase.DISCOVER}),
)
SLEPT: list[float] = []


async def sleep(seconds: float) -> None:
    SLEPT.append(seconds)


@pytest.fixture(autouse=True)
def nothing_slept() -> None:
    SLEPT.clear()


@pytest.fixture
def anthropic() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


async def at_openai(server: OpenAIServer, **params: Any) -> ModelReasoning:
    keys = GivenKeys(OPENAI_API_KEY="sk-test-of-openai", OPENAI_BASE_URL=server.base_url)
    model = Model(provider="openai", name="gpt-4o", params={"max_retries": 0, **params})
    return ModelReasoning(str(model), await service.create_chat_model(model, keys, web=open_web()), sleep)


async def at_anthropic(server: AnthropicServer) -> ModelReasoning:
    keys = GivenKeys(ANTHROPIC_API_KEY="sk-ant-test", ANTHROPIC_BASE_URL=server.origin)
    model = Model(provider="anthropic", name="claude-haiku-4-5", params={"max_retries": 0})
    return ModelReasoning(str(model), await service.create_chat_model(model, keys, web=open_web()), sleep)


async def without_tools(server: ToollessServer) -> ModelReasoning:
    keys = GivenKeys(OPENAI_COMPATIBLE_API_KEY="k", OPENAI_COMPATIBLE_BASE_URL=server.base_url)
    model = Model(provider="openai_compatible", name="house-model", params={"tool_shim": True})
    return ModelReasoning(str(model), await service.create_chat_model(model, keys, web=open_web()), sleep)


async def looked_up(reasoning: Reasoning, said: ModelAnswer) -> ModelAnswer:
    """What the model says when its call was answered."""
    answer = tool_answer(said.tool_calls[0], '{"found": "a tree"}', ok=True)
    return await reasoning.complete([user_message("Oak?"), answered(said), answer], system="Be brief.", tools=[LOOK])


class TestModelReasoning:
    async def test_calls_tools_and_reads_their_answers_at_openai(self, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("look", {"word": "oak"}, tokens=(9, 5)), openai.text("A tree.", tokens=(20, 4)))
        reasoning = await at_openai(openai)
        said = await reasoning.complete([user_message("Oak?")], system="Be brief.", tools=[LOOK])
        assert [(call["name"], call["args"]) for call in said.tool_calls] == [("look", {"word": "oak"})]
        assert (said.input_tokens, said.output_tokens) == (9, 5)
        assert (await looked_up(reasoning, said)).text == "A tree."
        first, second = (asked.body["messages"] for asked in openai.asked)
        assert [message["role"] for message in first] == ["system", "user"]
        assert [message["role"] for message in second] == ["system", "user", "assistant", "tool"]
        assert second[3]["tool_call_id"] == second[2]["tool_calls"][0]["id"]

    async def test_does_so_at_anthropic_with_its_thoughts(self, anthropic: AnthropicServer) -> None:
        anthropic.script(anthropic.tool_call("look", {"word": "oak"}, thought="Hm."), anthropic.text("A tree."))
        reasoning = await at_anthropic(anthropic)
        said = await reasoning.complete([user_message("Oak?")], system="Be brief.", tools=[LOOK])
        assert [(call["name"], call["args"]) for call in said.tool_calls] == [("look", {"word": "oak"})]
        assert said.input_tokens > 0
        assert (await looked_up(reasoning, said)).text == "A tree."
        turn = anthropic.asked[1].body["messages"][1]["content"]
        kinds = [part["type"] for part in turn]
        assert kinds.count("tool_use") == 1
        assert turn[kinds.index("tool_use")]["input"] == {"word": "oak"}

    async def test_does_so_with_a_model_that_knows_no_tools(self) -> None:
        with ToollessServer() as server:
            server.script(server.tool_call("look", {"word": "oak"}))
            reasoning = await without_tools(server)
            said = await reasoning.complete([user_message("Oak?")], system="Be brief.", tools=[LOOK])
        assert [(call["name"], call["args"]) for call in said.tool_calls] == [("look", {"word": "oak"})]

    async def test_tells_words_as_they_come(self, openai: OpenAIServer) -> None:
        openai.script(openai.text("One two three."))
        pieces: list[str] = []
        reasoning = await at_openai(openai)
        said = await reasoning.complete([user_message("Count")], system="Be brief.", on_token=pieces.append)
        assert len(pieces) == 3
        assert "".join(pieces) == said.text == "One two three."

    @pytest.mark.parametrize(
        ("written", "why"), [('{"word": "oa', "not valid JSON"), ('["oak"]', "not a JSON object"), ("[" * 9000, "JSON")]
    )
    async def test_carries_no_half_call_out(self, openai: OpenAIServer, written: str, why: str) -> None:
        openai.script(openai.half_call("look", written, finish="tool_calls"), openai.text("Sorry."))
        reasoning = await at_openai(openai)
        said = await reasoning.complete([user_message("Oak?")], system="Be brief.", tools=[LOOK])
        assert why in said.tool_calls[0]["error"]
        assert "args" not in said.tool_calls[0]
        assert (await looked_up(reasoning, said)).text == "Sorry."

    async def test_carries_no_call_of_a_message_out_that_was_cut_off(self, openai: OpenAIServer) -> None:
        openai.script(openai.half_call("look", '{"word": "oak"}'))
        said = await (await at_openai(openai)).complete([user_message("Oak?")], system="Be brief.", tools=[LOOK])
        assert "cut off at the output limit" in said.tool_calls[0]["error"]
        assert "args" not in said.tool_calls[0]

    async def test_says_that_words_were_cut_off(self, openai: OpenAIServer) -> None:
        openai.script(openai.text("# Plan\n1. Add", finish="length"))
        said = await (await at_openai(openai)).complete([user_message("Oak?")], system="Be brief.")
        assert said.fault is not None
        assert said.fault.kind == "cut"

    async def test_counts_the_requests_of_the_client_library_too(self, openai: OpenAIServer) -> None:
        openai.script(openai.rate_limited(0))
        with pytest.raises(ModelRateLimited, match="It was called 8 times"):
            await (await at_openai(openai, max_retries=1)).complete([user_message("Hi")], system="Be brief.")
        assert len(openai.asked) == 8

    async def test_estimates_tokens_where_the_provider_counts_none(self, openai: OpenAIServer) -> None:
        made = openai.text("x" * 400)
        openai.script(lambda asked: made(type(asked)(asked.path, asked.headers, {**asked.body, "stream_options": {}})))
        said = await (await at_openai(openai)).complete([user_message("y" * 800)], system="z" * 400)
        assert (said.input_tokens, said.output_tokens) == (300, 100)

    async def test_estimates_the_tools_and_earlier_calls_too(self, openai: OpenAIServer) -> None:
        made = openai.text("x" * 400)
        openai.script(lambda asked: made(type(asked)(asked.path, asked.headers, {**asked.body, "stream_options": {}})))
        reasoning, made_call = await at_openai(openai), {"id": "1", "name": "look", "args": {"word": "o" * 4_000}}
        history = [user_message("Oak?"), answered(ModelAnswer("", [made_call])), tool_answer(made_call, "{}", ok=True)]
        assert (await reasoning.complete(history, system="B", tools=[LOOK])).input_tokens > 1_000

    async def test_waits_for_a_rate_limit_as_long_as_the_provider_says(self, openai: OpenAIServer) -> None:
        openai.script(openai.rate_limited(7), openai.rate_limited(3), openai.text("Now."))
        said = await (await at_openai(openai)).complete([user_message("Hi")], system="Be brief.")
        assert said.text == "Now."
        assert SLEPT == [7.0, 3.0]

    async def test_does_not_wait_for_ever_and_says_how_often_it_asked(self, openai: OpenAIServer) -> None:
        openai.script(openai.rate_limited(1))
        with pytest.raises(ModelRateLimited, match="It was called 4 times"):
            await (await at_openai(openai)).complete([user_message("Hi")], system="Be brief.")
        assert SLEPT == [1.0, 1.0, 1.0]

    async def test_leaves_a_long_wait_to_the_person(self, openai: OpenAIServer) -> None:
        openai.script(openai.rate_limited(1000))
        with pytest.raises(ModelRateLimited, match="rate limiting"):
            await (await at_openai(openai)).complete([user_message("Hi")], system="Be brief.")
        assert SLEPT == []
        assert len(openai.asked) == 1

    async def test_fails_in_our_words(self, openai: OpenAIServer) -> None:
        openai.script(openai.wrong_key("Incorrect API key provided: sk-test-of-openai"))
        with pytest.raises(KeyRejected) as raised:
            await (await at_openai(openai)).complete([user_message("Hi")], system="Be brief.")
        assert "sk-test-of-openai" not in str(raised.value)

    async def test_takes_no_answer_that_was_cut_off(self, openai: OpenAIServer) -> None:
        openai.script(openai.cut_off())
        with pytest.raises(ModelUnreachable):
            await (await at_openai(openai)).complete([user_message("Hi")], system="Be brief.")

    async def test_asks_once_more_when_the_answer_is_none(self) -> None:
        with ToollessServer() as server:
            server.script(server.text("Hm"), server.tool_call("reply", {"text": "A tree."}))
            reasoning = await without_tools(server)
            assert (await reasoning.complete([user_message("Oak?")], system="B", tools=[LOOK])).text == "A tree."

    async def test_fails_when_it_is_none_again(self) -> None:
        with ToollessServer() as server:
            server.script(server.text("Hm"))
            reasoning = await without_tools(server)
            with pytest.raises(BrokenModelAnswer):
                await reasoning.complete([user_message("Oak?")], system="B", tools=[LOOK])
            assert len(server.asked) == 2


class TestReasoningChooser:
    def chooser(self, keys: GivenKeys, *, codev: str = "", assistant: str = "", default: str = "") -> ReasoningChooser:
        models = ModelSettings(assistant=assistant, default=default)
        settings = CodevSettings(model=codev)
        keys.with_setup(ModelSetup(roles=environment_roles(models, settings)))
        return ReasoningChooser(settings, lambda *_: keys, open_web())

    async def choose(self, chooser: ReasoningChooser, name: str | None = None) -> Reasoning:
        return await chooser.choose(cast("Principal", None), name)

    @pytest.mark.parametrize(
        ("settings", "asked", "chosen"),
        [
            ({"codev": "openai/a", "assistant": "openai/b", "default": "openai/c"}, "openai/d", "openai/d"),
            ({"codev": "openai/a", "assistant": "openai/b", "default": "openai/c"}, None, "openai/a"),
            ({"assistant": "openai/b", "default": "openai/c"}, None, "openai/b"),
            ({"assistant": "offline", "default": "openai/c"}, None, "openai/c"),
            ({"default": "openai/c"}, None, "openai/c"),
        ],
    )
    async def test_takes_the_nearest(self, settings: dict[str, str], asked: str | None, chosen: str) -> None:
        found = await self.choose(self.chooser(GivenKeys(OPENAI_API_KEY="sk-x"), **settings), asked)
        assert found.model_id == chosen

    async def test_takes_the_first_that_has_a_key_where_nothing_is_set(self) -> None:
        found = await self.choose(self.chooser(GivenKeys(ANTHROPIC_API_KEY="sk-ant-x"), assistant="offline"))
        assert found.model_id.startswith("anthropic/")

    @pytest.mark.parametrize(
        ("keys", "settings", "said"),
        [
            ({"OPENAI_API_KEY": "sk-x"}, {"codev": "openai/a", "assistant": "offline"}, "openai/a"),
            ({"OPENAI_API_KEY": "sk-x"}, {"codev": "anthropic/a"}, ""),
            ({}, {}, ""),
        ],
    )
    async def test_says_beforehand_which_it_would_take(
        self, keys: dict[str, str], settings: dict[str, str], said: str
    ) -> None:
        assert await self.chooser(GivenKeys(**keys), **settings).default(cast("Principal", None)) == said

    async def test_says_that_nothing_goes_without_a_model(self) -> None:
        with pytest.raises(NoReasoningModel, match="needs a language model, and no model provider is configured"):
            await self.choose(self.chooser(GivenKeys()))

    async def test_names_what_is_missing_and_what_would_do(self) -> None:
        with pytest.raises(NoReasoningModel) as raised:
            await self.choose(self.chooser(GivenKeys(OPENAI_API_KEY="sk-x")), "anthropic/claude-haiku-4-5")
        assert raised.value.code == "provider_not_configured"
        assert "ANTHROPIC_API_KEY" in str(raised.value)
        assert "openai" in raised.value.remedy

    @pytest.mark.parametrize("name", ["gpt", "/x", "openai/"])
    async def test_refuses_what_is_no_name(self, name: str) -> None:
        with pytest.raises(Invalid, match="not the name of a model"):
            await self.choose(self.chooser(GivenKeys(OPENAI_API_KEY="sk-x")), name)

    async def test_sends_a_temperature_only_to_models_that_take_one(self, openai: OpenAIServer) -> None:
        openai.script(openai.text("Hi."))
        keys = GivenKeys(OPENAI_API_KEY="sk-x", OPENAI_BASE_URL=openai.base_url)
        for name in ("openai/gpt-4o", "openai/gpt-5"):
            await (await self.choose(self.chooser(keys), name)).complete([user_message("Hi")], system="B")
        assert [asked.body.get("temperature") for asked in openai.asked] == [0.2, None]
