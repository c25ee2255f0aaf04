from typing import get_args

import pytest
from pydantic import BaseModel

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.spec import read_spec
from headgate.toolkit.flow import grammar

REGISTRY = Registry(BUILTINS)


class TestGrammar:
    @pytest.mark.parametrize("topic", sorted(grammar.EXAMPLES))
    def test_every_example_builds(self, topic: str) -> None:
        assert read_spec(grammar.EXAMPLES[topic], REGISTRY).nodes

    @pytest.mark.parametrize("model", [*grammar._WORDS])
    def test_has_words_on_exactly_the_members_that_there_are(self, model: type[BaseModel]) -> None:
        assert set(grammar._WORDS[model]) == set(model.model_fields)

    @pytest.mark.parametrize("topic", get_args(grammar.Topic))
    def test_names_every_member(self, topic: grammar.Topic) -> None:
        text = grammar.grammar_of(topic)
        for model in grammar._MODELS.get(topic, ()):
            for name in model.model_fields:
                assert f"- {name}: " in text
        assert len(text) < 4300

    def test_says_what_a_member_may_be(self) -> None:
        policy = grammar.grammar_of("policy")
        assert "input_source: flow_input | previous_step | all_previous_steps | http_get | http_post" in policy
        assert "number above 0 to 300" in policy
        assert (
            "type: text | long_text | number | select | multiselect | checkbox | date | json | image"
            in grammar.grammar_of("form")
        )
