import importlib
from typing import Any

import pytest

from headgate.features.models import catalogue
from headgate.features.models.errors import ModelNotAccessible
from headgate.features.models.local.server import DEFAULT_CONTEXT
from headgate.features.models.local.weights import WEIGHTS
from headgate.features.models.providers import PROVIDERS
from headgate.sdk import Model


class TestData:
    def test_has_a_shelf_for_every_provider(self) -> None:
        for provider_id in PROVIDERS:
            assert isinstance(catalogue.list_models(provider_id), list)
            unknown = catalogue.resolve(Model(provider=provider_id, name="never heard of"))
            assert (unknown.known, unknown.provider) == (False, provider_id)

    @pytest.mark.parametrize("provider_id", [p for p in PROVIDERS if p != "openai_compatible"])
    def test_the_default_is_a_known_model_that_calls_tools(self, provider_id: str) -> None:
        name = catalogue.default_name(provider_id)
        assert name is not None
        info = catalogue.resolve(Model(provider=provider_id, name=name))
        assert info.known
        assert info.tools != "none"

    def test_prices_come_in_pairs_and_answers_fit_the_window(self) -> None:
        for info in catalogue.list_models():
            assert (info.price_in is None) == (info.price_out is None), info.name
            if info.price_in is not None and info.price_out is not None:
                assert 0 <= info.price_in <= info.price_out, info.name
            assert info.context_window is None or info.context_window >= 8192, info.name

    def test_local_models_are_those_that_can_be_pulled_with_the_window_they_are_served_with(self) -> None:
        local = catalogue.list_models("local")
        assert [info.name for info in local] == [name for name, weights in WEIGHTS.items() if weights.use == "chat"]
        assert {info.context_window for info in local} == {DEFAULT_CONTEXT}
        assert {info.tools for info in local} == {"shim"}

    @pytest.mark.parametrize(
        ("provider_id", "package"), [("openai", "langchain_openai"), ("anthropic", "langchain_anthropic")]
    )
    def test_agrees_with_what_the_providers_package_states(self, provider_id: str, package: str) -> None:
        stated: dict[str, dict[str, Any]] = importlib.import_module(f"{package}.data._profiles")._PROFILES
        for info in catalogue.list_models(provider_id):
            profile = stated[info.name]
            assert info.context_window == profile["max_input_tokens"], info.name
            assert info.max_output == profile["max_output_tokens"], info.name
            assert (info.tools == "native") == profile["tool_calling"], info.name
            assert info.vision == profile["image_inputs"], info.name
            assert info.temperature == profile["temperature"], info.name
            assert info.documents == profile["pdf_inputs"], info.name


class TestResolve:
    def test_knows_a_dated_edition_of_a_known_model(self) -> None:
        for name in ("gpt-4o-2024-08-06", "gpt-4o-latest"):
            info = catalogue.resolve(Model(provider="openai", name=name))
            assert (info.known, info.name, info.label) == (True, name, "GPT-4o")
        assert catalogue.resolve(Model(provider="anthropic", name="claude-haiku-4-5-20251001")).known

    def test_does_not_take_a_longer_name_for_an_edition(self) -> None:
        assert not catalogue.resolve(Model(provider="openai", name="gpt-4o-transcribe")).known

    def test_keeps_slashes_in_names(self) -> None:
        assert catalogue.resolve(Model.model_validate("groq/openai/gpt-oss-120b")).known

    def test_takes_an_unknown_provider_for_a_server_that_has_a_name(self) -> None:
        info = catalogue.resolve(Model(provider="vllm", name="x"))
        assert (info.provider, info.name, info.known) == ("vllm", "x", False)


class TestNextModel:
    def test_walks_through_the_provider_and_ends(self) -> None:
        model = Model(provider="anthropic", name="claude-old", params={"temperature": 0})
        tried = {model.name}
        while (following := catalogue.next_model(model, tried)) is not None:
            assert following.provider == "anthropic"
            assert following.params == model.params
            assert following.name not in tried
            tried.add(following.name)
        assert len(tried) == 1 + len(catalogue.list_models("anthropic"))

    def test_starts_with_the_default(self) -> None:
        following = catalogue.next_model(Model(provider="openai", name="x"), {"x"})
        assert following is not None
        assert following.name == catalogue.default_name("openai")

    def test_has_nothing_for_a_provider_without_models(self) -> None:
        assert catalogue.next_model(Model(provider="openai_compatible", name="x"), {"x"}) is None

    def test_says_what_was_tried_in_the_end(self) -> None:
        error = catalogue.models_exhausted(Model(provider="openai", name="b"), ["b", "a"])
        assert isinstance(error, ModelNotAccessible)
        assert error.detail == (
            "No accessible model on openai. Tried: b, a. Configure access to one of these models in your openai"
            " account, or switch to a different provider in Settings → Model Providers."
        )
        assert error.extra["tried"] == ["b", "a"]
