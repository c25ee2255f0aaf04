"""The ready-made flows."""

from collections import Counter
from typing import get_args

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.gallery import (
    Category,
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
    def test_holds_forty_flows_or_more_each_with_a_title_of_its_own(self) -> None:
        assert len(load_gallery()) >= 40
        assert len({recipe.title for recipe in load_gallery()}) == len(load_gallery())

    def test_has_every_category_several_times(self) -> None:
        counts = Counter(recipe.category for recipe in load_gallery())
        assert set(counts) == set(get_args(Category))
        assert min(counts.values()) >= 2

    def test_reads_each_flow_once(self) -> None:
        assert all(recipe.flow() is recipe.flow() for recipe in load_gallery())

    def test_holds_flows_that_can_run(self) -> None:
        issues = [
            (recipe.key, issue)
            for recipe in load_gallery()
            for issue in check_runnable(recipe.flow(), REGISTRY)
            if not (recipe.needs_model and issue.field == "model")
        ]
        assert issues == []

    def test_have_sample_data_for_what_they_ask(self) -> None:
        for recipe in load_gallery():
            self.check_sample(recipe)

    def check_sample(self, recipe: Recipe) -> None:
        flow, sample = recipe.flow(), recipe.sample
        assert set(sample.form) == {field.id for field in flow.form}, recipe.key
        assert all(sample.form[field.id] in field.options for field in flow.form if field.options), recipe.key
        types = {node.type for node in flow.nodes}
        assert (sample.file is not None) == ("FileInput" in types), recipe.key
        assert bool(sample.text) == bool(types & {"TextInput", "ChatInput"}), recipe.key

    def test_name_no_model_so_that_the_default_model_is_used(self) -> None:
        assert not [
            recipe.key for recipe in load_gallery() if any("model" in node.params for node in recipe.flow().nodes)
        ]

    def test_runs_flows_of_templates_that_run_no_others(self) -> None:
        by_name = {recipe.flow().name: recipe for recipe in load_gallery()}
        called = {name for recipe in load_gallery() for name in recipe.needs_flows}
        assert called == {"Expense check", "Review round", "Address check", "Scored draft"}
        assert not [name for name in called if by_name[name].needs_flows]

    def test_needs_a_model_where_a_flow_that_it_runs_does(self) -> None:
        assert find_recipe("scored-draft").needs_model
        assert find_recipe("review-loop").needs_model
        assert not find_recipe("nightly-batch").needs_model

    def test_mostly_needs_no_model(self) -> None:
        with_model = [recipe.key for recipe in load_gallery() if recipe.needs_model]
        assert with_model
        assert len(with_model) * 2 < len(load_gallery())

    def test_names_the_connections_of_steps_and_triggers_once(self) -> None:
        connections = find_recipe("mail-reply-drafts").needs_connections(REGISTRY)
        assert [(each.name, each.kinds) for each in connections] == [
            ("office-inbox", ("imap",)), ("office-mail", ("smtp",)),
        ]  # fmt: skip
        assert find_recipe("echo").needs_connections(REGISTRY) == ()

    @pytest.mark.parametrize(
        ("query", "key"),
        [
            ("rss slack", "feed-to-chat"),
            ("lead enrichment crm", "lead-enrichment"),
            ("github issue labels", "github-issue-triage"),
            ("säkerhetskopia tabellen xlsx varje natt", "backup-to-spreadsheet"),
            ("sammanfatta pdf mejl", "pdf-summary-by-mail"),
            ("bevaka priset", "price-monitor"),
            ("chattbot med minne", "chat-with-tools"),
            ("påminn om händelser i kalendern", "calendar-reminders"),
        ],
    )
    def test_is_found_by_words_of_both_languages(self, query: str, key: str) -> None:
        assert key in [match.key for match in recipe_index(load_gallery()).search(query, most=3)]

    def test_is_found_by_its_own_examples(self) -> None:
        index = recipe_index(load_gallery())
        lost = [
            (recipe.key, text)
            for recipe in load_gallery()
            for text in (*recipe.examples, *recipe.swedish)
            if recipe.key not in [match.key for match in index.search(text, most=3)]
        ]
        assert lost == []


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

    def test_reads_the_sample_data(self) -> None:
        recipe = parse_recipe("key", HEAD + "name: x\n---\ntext: |\n  two\n  lines\nshows: [lines]\n")
        assert (recipe.sample.text, recipe.shows, recipe.spec) == ("two\nlines\n", ("lines",), "name: x\n")

    def test_refuses_sample_data_that_no_run_takes(self) -> None:
        with pytest.raises(ValueError, match="words"):
            parse_recipe("key", HEAD + "name: x\n---\nwords: hello\n")

    @pytest.mark.parametrize("text", ["name: x\n", "---\ntitle: x\n", "before\n" + HEAD])
    def test_refuses_a_text_without_front_matter(self, text: str) -> None:
        with pytest.raises(ValueError, match="front matter"):
            parse_recipe("key", text)

    def test_names_what_is_missing(self) -> None:
        with pytest.raises(ValueError, match="title"):
            parse_recipe("key", "---\ndescription: x\n- do it\n---\n")
