"""Another model of the provider, where one is not given."""

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatResult

from headgate.features.models import catalogue
from headgate.features.models.chain import ModelChain
from headgate.features.models.errors import KeyRejected, ModelNotAccessible
from headgate.features.models.fallback import with_fallback
from headgate.sdk import Model
from tests.support.scripted_model import ScriptedModel, says

FIRST = Model(provider="openai", name="gpt-5-mini")


class Failing(ScriptedModel):
    """A model that is not given, or not to this key."""

    error: type[ModelNotAccessible] | type[KeyRejected] = ModelNotAccessible

    def _next(self, messages: Any) -> AIMessage:
        raise self.error("no", remedy="choose another")

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise self.error("no", remedy="choose another")


def chain_of(*answers: BaseChatModel) -> tuple[ModelChain, list[Model]]:
    """A chain whose models are these, in the order in which they are made."""
    waiting, made = list(answers), []

    async def make(model: Model) -> BaseChatModel:
        made.append(model)
        return waiting.pop(0)

    return ModelChain(FIRST, make), made


class TestFallbackChat:
    async def test_asks_the_next_model_and_stays_with_it(self) -> None:
        default = str(catalogue.default_name("openai"))
        chain, made = chain_of(Failing(script=[]), ScriptedModel(script=[says("hello"), says("again")]))
        changed: list[str] = []
        chain.on_change = lambda model: changed.append(model.name)
        chat = await with_fallback(chain)
        assert (await chat.ainvoke("hi")).text == "hello"
        assert (await chat.ainvoke("hi")).text == "again"
        assert [model.name for model in made] == ["gpt-5-mini", default]
        assert changed == [default]

    async def test_does_the_same_in_a_stream(self) -> None:
        chain, _ = chain_of(Failing(script=[]), ScriptedModel(script=[says("hello there")]))
        chat = await with_fallback(chain)
        assert "".join([chunk.text async for chunk in chat.astream("hi")]).strip() == "hello there"

    async def test_offers_its_tools_to_whichever_model_answers(self) -> None:
        chain, _ = chain_of(ScriptedModel(script=[says("hello")]))
        bound = (await with_fallback(chain)).bind_tools([])
        assert (await bound.ainvoke([HumanMessage("hi")])).text == "hello"

    async def test_leaves_a_wrong_key_as_it_is(self) -> None:
        chain, made = chain_of(Failing(script=[], error=KeyRejected))
        with pytest.raises(KeyRejected):
            await (await with_fallback(chain)).ainvoke("hi")
        assert len(made) == 1

    async def test_names_all_that_were_tried_in_the_end(self) -> None:
        everyone = len(catalogue.list_models("openai"))
        chain, _ = chain_of(*(Failing(script=[]) for _ in range(everyone)))
        with pytest.raises(ModelNotAccessible) as raised:
            await (await with_fallback(chain)).ainvoke("hi")
        tried = ", ".join(chain.tried)
        assert raised.value.detail == (
            f"No accessible model on openai. Tried: {tried}. Configure access to one of these models in your openai"
            " account, or switch to a different provider in Settings → Model Providers."
        )
        assert chain.tried[:2] == ["gpt-5-mini", catalogue.default_name("openai")]
        assert len(set(chain.tried)) == len(chain.tried)

    async def test_shares_what_was_found_out_with_the_classifier(self) -> None:
        chain, made = chain_of(
            Failing(script=[]),
            Failing(script=[]),
            ScriptedModel(script=[says("one")]),
            ScriptedModel(script=[says("two")]),
        )
        working, classifying = await with_fallback(chain), await with_fallback(chain, max_tokens=300)
        assert (await classifying.ainvoke("hi")).text == "one"
        assert (await working.ainvoke("hi")).text == "two"
        assert [model.params.get("max_tokens") for model in made] == [None, 300, 300, None]
        assert len(chain.tried) == 2


class TestChosenChain:
    async def test_asks_models_of_other_providers_after_a_refused_key(self) -> None:
        chain, made = chain_of(Failing(script=[], error=KeyRejected), ScriptedModel(script=[says("from the server")]))
        server = Model(provider="vllm", name="qwen3", params={"max_tokens": 100})
        chain = ModelChain(FIRST, chain.make, following=(FIRST, server))
        bound = (await with_fallback(chain)).bind_tools([])
        assert (await bound.ainvoke([HumanMessage("hi")])).text == "from the server"
        assert [str(model) for model in made] == ["openai/gpt-5-mini", "vllm/qwen3"]
        assert made[1].params == {"max_tokens": 100}

    async def test_ends_with_the_last_error(self) -> None:
        chain, _ = chain_of(Failing(script=[], error=KeyRejected), Failing(script=[], error=KeyRejected))
        chain = ModelChain(FIRST, chain.make, following=(Model(provider="vllm", name="qwen3"),))
        with pytest.raises(KeyRejected):
            await (await with_fallback(chain)).ainvoke("hi")
        assert chain.tried == ["openai/gpt-5-mini", "vllm/qwen3"]
