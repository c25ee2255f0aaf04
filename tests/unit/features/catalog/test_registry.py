"""The registry of component classes."""

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry, UnknownComponent

REGISTRY = Registry(BUILTINS)


class TestRegistry:
    def test_lists_its_types_sorted(self) -> None:
        assert list(REGISTRY.types()) == sorted(component.__name__ for component in BUILTINS)

    def test_has_one_template_a_type(self) -> None:
        assert [template.type for template in REGISTRY.templates()] == list(REGISTRY.types())

    def test_derives_a_template_once(self) -> None:
        assert REGISTRY.template("SaveFile") is REGISTRY.template("SaveFile")

    def test_gives_the_ports_that_params_make(self) -> None:
        template = REGISTRY.template("Switch", {"cases": ["red", "blue"]})
        assert template is not None
        assert {"red", "blue", "otherwise"} <= {output.name for output in template.outputs}

    def test_keeps_variants_of_the_same_params(self) -> None:
        one = REGISTRY.template("PromptTemplate", {"template": "Dear {name}"})
        assert one is REGISTRY.template("PromptTemplate", {"template": "Dear {name}"})

    def test_forgets_the_oldest_of_very_many_variants(self) -> None:
        registry = Registry(BUILTINS)
        first = registry.template("PromptTemplate", {"template": "{first}"})
        for number in range(600):
            registry.template("PromptTemplate", {"template": f"{{n{number}}}"})
        assert registry.template("PromptTemplate", {"template": "{first}"}) is not first

    def test_knows_no_template_of_an_unknown_type(self) -> None:
        assert REGISTRY.template("Nothing") is None

    def test_names_the_nearest_of_an_unknown_component(self) -> None:
        with pytest.raises(UnknownComponent, match="SaveFile"):
            REGISTRY.component("SaveFlie")
