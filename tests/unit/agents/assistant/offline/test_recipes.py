"""Recipes: their words, their examples, and that every component and output is reachable."""

import pytest

from headgate.agents.assistant.offline.choices import nearest
from headgate.agents.assistant.offline.cookbook import BUILDING, EDITS, RUNS
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.reading.patterns import compile_pattern, needed_words
from headgate.agents.assistant.offline.reading.tokens import tokenize
from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.graph.model import Flow
from headgate.graph.ports import CONFIGURATION_TYPES
from tests.support.report_all import report_all
from tests.unit.agents.assistant.offline.corpus import REGISTRY

EVERYTHING = (*BUILDING, *EDITS, *RUNS)

EXAMPLES = [
    example for recipe in EVERYTHING for language in ("en", "sv") for example in recipe.wordings[language].examples
]
OUTPUTS = [
    (type_, output.name)
    for type_ in REGISTRY.types()
    if not (template := REGISTRY.template(type_)).annotation  # type: ignore[union-attr]
    for output in template.outputs  # type: ignore[union-attr]
    if output.type not in CONFIGURATION_TYPES
]
REQUIRED = {
    "PromptTemplate": "template 'Dear all'", "Regex": "pattern 'a+'", "SelectData": "expression 'a'", "TableQuery": "sql 'SELECT 1'",  # noqa: E501
    "Calculator": "expression '1+1'", "HTTPRequest": "url 'https://example.org'", "URL": "url 'https://example.org'",
    "WebhookOut": "url 'https://example.org'", "AIStep": "prompt 'Answer'", "Switch": "", "Python": "", "StructuredOutput": "",  # noqa: E501
    "RunFlow": "", "ForEach": "", "Loop": "", "Classify": "", "ReadState": "name 'n'", "WriteState": "name 'n'",
    "WaitForState": "", "SendEvent": "event 'paid'", "WaitForEvent": "event 'paid'", "ExtractXML": "expression '//a'",
    "ExtractHTML": "selector 'a'", "ReadFeed": "url 'https://example.org'", "ReadSitemap": "url 'https://example.org'",
    "Embed": "", "IndexDocuments": "", "Rerank": "",
    "Retrieve": "base 'Handbook'", "AnswerFromKnowledge": "base 'Handbook'",
    "ForEachPage": "", "FolderFiles": "", "WriteFile": "", "MoveFile": "", "ApiCall": "", "ApiTools": "", "McpCall": "",
    "SqlQuery": "", "SqlWrite": "", "SqlSchema": "", "SendMail": "", "ReadMail": "", "Notify": "",
    "GitFiles": "", "GitHistory": "", "CommitFiles": "", "OpenChange": "",
}  # fmt: skip
"""The field that a component cannot do without."""


class TestRecipe:
    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_has_words_whose_slots_are_restated(self, language: str) -> None:
        with report_all() as item:
            for recipe in EVERYTHING:
                wording = recipe.wordings[language]  # type: ignore[index]
                for text in wording.patterns:
                    slots = set(compile_pattern(text, language).slots)
                    lost = {slot for slot in slots if f"{{{slot}}}" not in wording.say}
                    with item(recipe.key):
                        assert lost <= {"ones", "count"}, f"{text}: {lost} is not in '{wording.say}'"

    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_matches_no_line_without_the_words_that_it_needs(self, language: Language) -> None:
        examples = [example for recipe in EVERYTHING for example in recipe.wordings[language].examples]
        lines = [tokenize(example).line for example in examples]
        for text in [text for recipe in EVERYTHING for text in recipe.wordings[language].patterns]:
            expression, needed = compile_pattern(text, language).expression, needed_words(text, language)
            for line in lines:
                if not all(any(word in line for word in words) for words in needed):
                    assert expression.search(line) is None, (text, line)

    async def test_is_built_and_works_for_its_examples(self) -> None:
        with report_all() as item:
            for example in EXAMPLES:
                with item(example):
                    understood = understand(example, REGISTRY, Flow(), "openai/gpt-5-mini")
                    understood = await try_out(understood, REGISTRY, None)
                    assert understood.actions, understood.reply

    def test_has_an_example_where_it_builds(self) -> None:
        silent = {recipe.key for recipe in BUILDING if not recipe.wordings["en"].examples}
        assert silent <= {"source", "show", "save", "drop_columns", "rename_column"}

    @pytest.mark.parametrize("word", ["mask", "average", "fetch", "sort", "maskera", "sortera"])
    def test_is_offered_only_when_it_is_built(self, word: str) -> None:
        language = "sv" if word.endswith("ra") else "en"
        for offer in nearest(word, language):  # type: ignore[arg-type]
            assert understand(offer, REGISTRY, Flow()).actions, offer


class TestComponents:
    def test_are_reachable_with_each_output(self) -> None:
        with report_all() as item:
            for type_, output in OUTPUTS:
                with item(f"{type_}.{output}"):
                    self._is_reachable(type_, output)

    @staticmethod
    def _is_reachable(type_: str, output: str) -> None:
        value = REQUIRED.get(type_)
        if value == "":
            return  # takes a published flow, a connection, or more than one value, which no sentence holds
        given = f" with {value}" if value else ""
        understood = understand(f"use {type_}{given} and show its {output}", REGISTRY, Flow(), "openai/gpt-5-mini")
        issue = understood.reply.split("\n")[0]
        lacking = ("model", "file", "the flow has no form")
        assert understood.flow is not None or any(part in issue for part in lacking), issue
        if understood.flow is not None:
            assert type_ in {node.type for node in understood.flow.nodes}
