"""Fallback models of a model field: classifications, keys and the form that is kept."""

from typing import Any

import pytest
from pydantic import ValidationError

from headgate.features.models.setup.chosen import default_step_model
from headgate.features.models.setup.values import ModelRole, ModelSetup, RoleChoice
from headgate.graph.classification import ModelRef, model_refs
from headgate.sdk import Model
from headgate.toolkit.model_values import coerce_model

CHAIN: dict[str, Any] = {
    "provider": "openai",
    "name": "gpt-5-mini",
    "fallback": ["anthropic/claude-sonnet-5", "mine/qwen3"],
}


class TestModel:
    def test_lists_itself_and_its_fallback_models(self) -> None:
        chain = Model.model_validate(CHAIN).chain
        assert [str(one) for one in chain] == ["openai/gpt-5-mini", "anthropic/claude-sonnet-5", "mine/qwen3"]
        assert not any(one.fallback for one in chain)

    @pytest.mark.parametrize("fallback", [[CHAIN], ["a/b", "a/b"], ["a/1", "a/2", "a/3", "a/4", "a/5", "a/6"]])
    def test_refuses_chains_in_chains_repetitions_and_too_many(self, fallback: list[object]) -> None:
        with pytest.raises(ValidationError):
            Model.model_validate({"provider": "openai", "name": "gpt-5-mini", "fallback": fallback})

    def test_without_fallback_is_kept_as_before(self) -> None:
        assert "fallback" not in Model.model_validate("openai/gpt-5-mini").model_dump()


class TestClassification:
    def test_reads_every_model_of_a_chain(self) -> None:
        assert model_refs(CHAIN) == [
            ModelRef("openai", "gpt-5-mini"),
            ModelRef("anthropic", "claude-sonnet-5"),
            ModelRef("mine", "qwen3"),
        ]

    def test_does_not_know_a_fallback_model_that_the_run_decides(self) -> None:
        assert None in model_refs({**CHAIN, "fallback": ["{{start.text}}"]})


class TestCoercing:
    def test_keeps_the_fallback_models_in_their_order(self) -> None:
        kept = coerce_model({"provider": "OpenAI", "name": "gpt-5-mini", "fallback": ["Anthropic/claude-sonnet-5"]})
        assert kept == {
            "provider": "openai",
            "name": "gpt-5-mini",
            "params": {},
            "fallback": ["anthropic/claude-sonnet-5"],
        }


class TestDefault:
    def test_of_steps_brings_the_chosen_fallback_models(self) -> None:
        first, second = Model.model_validate("openai/gpt-5-mini"), Model.model_validate("anthropic/claude-sonnet-5")
        setup = ModelSetup(
            roles={
                ModelRole.STEP: RoleChoice((first,), "settings", {"timeout_seconds": 30}),
                ModelRole.FALLBACK: RoleChoice((first, second), "settings"),
            }
        )
        value = default_step_model(setup)
        assert value == {
            "provider": "openai",
            "name": "gpt-5-mini",
            "params": {"timeout_seconds": 30},
            "fallback": [
                {"provider": "anthropic", "name": "claude-sonnet-5", "params": {"timeout_seconds": 30}},
            ],
        }
