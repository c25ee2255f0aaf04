"""Templates and joined texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.text import CombineText, PromptTemplate, placeholders
from headgate.components.wording import listed_text, unescaped
from headgate.graph.ports import PortType
from headgate.sdk import ComponentError, Table
from headgate.sdk.testing import StepHarness


class TestPromptTemplate:
    async def test_fills_each_name(self) -> None:
        outputs = await StepHarness().run(
            PromptTemplate, {"template": "{who} says {what}, {who}!", "who": "Ann", "what": [1]}
        )
        assert outputs["text"] == "Ann says [\n  1\n], Ann!"

    def test_makes_a_required_text_port_a_name(self) -> None:
        template = PromptTemplate.template({"template": "{b} and {a} and {b}"})
        ports = [(port.name, port.types, port.required) for port in template.ports]
        assert ports == [("b", (PortType.TEXT,), True), ("a", (PortType.TEXT,), True)]
        assert template.main_field is not None
        assert template.main_field.name == "b"

    async def test_never_fills_twice(self) -> None:
        outputs = await StepHarness().run(PromptTemplate, {"template": "{a}{b}", "a": "{b}", "b": "\\1{a}"})
        assert outputs["text"] == "{b}\\1{a}"

    async def test_shows_a_table_readably(self) -> None:
        outputs = await StepHarness().run(PromptTemplate, {"template": "{rows}", "rows": Table(columns=["a"])})
        assert outputs["text"] == "| a |\n| --- |"

    @pytest.mark.parametrize(
        "template",
        ['{"a": 1}', "{{name}}", "{{{name}}}", "{ name }", "{Name}", "{template}", "{}", "{a.b}", "f({x: 1})"],
    )
    async def test_leaves_other_braces_alone(self, template: str) -> None:
        assert placeholders(template) == ()
        assert (await StepHarness().run(PromptTemplate, {"template": template}))["text"] == template

    async def test_names_an_empty_placeholder(self) -> None:
        with pytest.raises(ComponentError, match=r"there is no value for \{who\}"):
            await StepHarness().run(PromptTemplate, {"template": "{who}"})

    @pytest.mark.parametrize("template", [None, 3, ["{a}"], {"x": "{a}"}])
    def test_survives_a_template_that_is_no_text(self, template: object) -> None:
        assert PromptTemplate.extra_fields({"template": template}) == ()  # type: ignore[dict-item]


class TestCombineText:
    async def test_joins_in_order(self) -> None:
        outputs = await StepHarness().run(
            CombineText, {"parts": ["b", " ", Table(columns=["x"]), {"n": 1}], "separator": "\\n--\\n", "title": "All"}
        )
        assert outputs["text"] == '# All\n\nb\n--\n| x |\n| --- |\n--\n{\n  "n": 1\n}'

    async def test_keeps_empty_parts_when_told(self) -> None:
        outputs = await StepHarness().run(CombineText, {"parts": ["a", "", "b"], "separator": ",", "skip_empty": False})
        assert outputs["text"] == "a,,b"


class TestUnescaped:
    @pytest.mark.parametrize(
        ("typed", "meant"),
        [("\\n", "\n"), ("a\\tb", "a\tb"), ("\\\\n", "\\n"), ("\\", "\\"), ("\\d", "\\d"), ("\n", "\n")],
    )
    def test_means_what_people_type(self, typed: str, meant: str) -> None:
        assert unescaped(typed) == meant

    @given(st.text(st.characters(codec="utf-8", exclude_characters="\\")))
    def test_changes_nothing_without_backslashes(self, text: str) -> None:
        assert unescaped(text) == text


class TestListedText:
    @pytest.mark.parametrize(
        ("value", "items"),
        [
            ("a, b,,c", ["a", "b", "c"]),
            ("a, b\nc\n", ["a, b", "c"]),
            ('["a, b"]', ["a, b"]),
            ("[a", ["[a"]),
            ("", []),
            (["a, b"], ["a, b"]),
            (3, 3),
        ],
    )
    def test_reads_a_list_from_text(self, value: object, items: object) -> None:
        assert listed_text(value) == items
