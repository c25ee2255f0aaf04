"""The ready-made flows."""

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.gallery import (
    Recipe,
    UnknownTemplate,
    find_recipe,
    load_gallery,
    parse_recipe,
    recipe_index,
)
from headgate.features.catalog.registry import Registry
from headgate.graph.validate import check_runnable

REGISTRY = Registry(BUILTINS)
HEAD = "---\ntitle: A title\ndescription: What it is\ntags: one, two\n- do it\n---\n"


class TestGallery:
    def test_holds_at_least_twelve_flows(self) -> None:
        assert len(load_gallery()) >= 12

    @pytest.mark.parametrize("recipe", load_gallery(), ids=lambda recipe: recipe.key)
    def test_holds_flows_that_can_run(self, recipe: Recipe) -> None:
        assert check_runnable(recipe.flow(), REGISTRY) == []

    def test_mostly_needs_no_model(self) -> None:
        with_model = [recipe.key for recipe in load_gallery() if "model:" in recipe.spec]
        assert len(with_model) * 2 < len(load_gallery())

    @pytest.mark.parametrize("recipe", load_gallery(), ids=lambda recipe: recipe.key)
    def test_is_found_by_its_own_examples(self, recipe: Recipe) -> None:
        index = recipe_index(load_gallery())
        assert all(recipe.key in [m.key for m in index.search(text, most=3)] for text in recipe.examples)


class TestFindRecipe:
    def test_gives_the_recipe(self) -> None:
        assert find_recipe("csv-totals").title

    def test_names_the_nearest_of_an_unknown_one(self) -> None:
        with pytest.raises(UnknownTemplate, match="csv-totals"):
            find_recipe("csv-total")


class TestParseRecipe:
    def test_reads_the_front_matter(self) -> None:
        recipe = parse_recipe("key", HEAD + "name: x\n")
        assert (recipe.title, recipe.tags, recipe.examples) == ("A title", ("one", "two"), ("do it",))
        assert recipe.spec == "name: x\n"

    @pytest.mark.parametrize("text", ["name: x\n", "---\ntitle: x\n", "before\n" + HEAD])
    def test_refuses_a_text_without_front_matter(self, text: str) -> None:
        with pytest.raises(ValueError, match="front matter"):
            parse_recipe("key", text)

    def test_names_what_is_missing(self) -> None:
        with pytest.raises(ValueError, match="title"):
            parse_recipe("key", "---\ndescription: x\n- do it\n---\n")
