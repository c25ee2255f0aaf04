import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.interpolate import interpolate, map_texts, references, references_in, resolve, texts_in
from tests.unit.graph.strategies import json_values, texts

CONTEXT: dict[str, JsonValue] = {
    "flow_input": {"text": "hej", "handläggare": "Anna", "हिन्दी": "hi"},
    "step_1": {
        "output": {"items": [{"name": "first"}, {"name": "second"}], "count": 2, "ok": True, "none": None},
        "answer": '{"summary": {"short": "s"}}',
        "text": 'He said "no"\n\\',
        "content-type": "text/html",
    },
}


class TestInterpolate:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Hi {{flow_input.handläggare}}!", "Hi Anna!"),
            ("{{ flow_input.text }}", "hej"),
            ("{{flow_input.हिन्दी}}", "hi"),
            ("{{step_1.output.items.1.name}}", "second"),
            ("{{step_1.output.count}}/{{step_1.output.ok}}", "2/true"),
            ("[{{step_1.output.none}}]", "[]"),
            ("{{step_1.output.items.0}}", '{"name": "first"}'),
            ("{{step_1.answer.summary.short}}", "s"),
            ("{{step_1.answer}}", '{"summary": {"short": "s"}}'),
            ("{{step_1.content-type}}", "text/html"),
        ],
    )
    def test_puts_values_in_place_of_references(self, text: str, expected: str) -> None:
        assert interpolate(text, CONTEXT) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "{{nobody.output}}",
            "{{step_1.output.items.2}}",
            "{{step_1.output.items.-1}}",
            "{{step_1.output.items.x}}",
            "{{step_1.output.count.x}}",
            "{{step_1.text.x}}",
            "{{step_1.output.items." + "9" * 6000 + "}}",
            "{{}}",
            "{{ }}",
            "{{a b}}",
            "{{a..b}}",
            "{{.a}}",
            "{a}",
            "{{{",
            "{{#if x}}",
        ],
    )
    def test_leaves_what_does_not_resolve_as_it_was_written(self, text: str) -> None:
        assert interpolate(text, CONTEXT) == text

    def test_never_reads_a_value_for_references(self) -> None:
        context: dict[str, JsonValue] = {"a": {"output": "{{b.output}}"}, "b": {"output": "secret"}}
        assert interpolate("{{a.output}}", context) == "{{b.output}}"

    @given(texts, texts)
    def test_is_one_pass(self, before: str, value: str) -> None:
        wrapped = before.replace("{", "").replace("}", "") + "|{{x.output}}|"
        assert interpolate(wrapped, {"x": {"output": value}}) == wrapped.replace("{{x.output}}", value)

    @given(json_values)
    def test_changes_nothing_without_references(self, value: JsonValue) -> None:
        if not any(references(text) for text in texts_in(value)):
            assert json.dumps(interpolate(value, CONTEXT)) == json.dumps(value)

    @given(texts)
    def test_is_safe_inside_json_quotes(self, value: str) -> None:
        body = interpolate('{"a": "{{x.output}}"}', {"x": {"output": value}}, json_safe=True)
        assert json.loads(body) == {"a": value}

    @given(json_values)
    def test_puts_structures_into_json_as_json(self, value: JsonValue) -> None:
        if not isinstance(value, str):
            body = interpolate('{"a": {{x.output}}}', {"x": {"output": value}}, json_safe=True)
            assert json.loads(body) == {"a": value}

    def test_walks_objects_and_lists_but_not_names(self) -> None:
        value: JsonValue = {"{{flow_input.text}}": ["{{flow_input.text}}", 1, {"x": "{{flow_input.text}}"}]}
        assert interpolate(value, CONTEXT) == {"{{flow_input.text}}": ["hej", 1, {"x": "hej"}]}

    @pytest.mark.parametrize("text", ["{{" * 200_000, "{{a" * 100_000, "{{" + " " * 200_000, "{{" + "a." * 100_000])
    def test_takes_hostile_text_in_linear_time(self, text: str) -> None:
        started = time.process_time()
        interpolate(text, CONTEXT)
        assert time.process_time() - started < 2

    def test_reads_a_long_json_text_once(self) -> None:
        long = json.dumps({"k": list(range(120_000))})
        started = time.process_time()
        found = interpolate("{{a.output.k.7}} " * 500, {"a": {"output": long}})
        assert found == "7 " * 500
        assert time.process_time() - started < 2

    def test_does_not_look_into_json_nested_without_end(self) -> None:
        assert interpolate("{{a.output.x}}", {"a": {"output": "[" * 100_000}}) == "{{a.output.x}}"


class TestResolve:
    def test_keeps_the_type_of_a_value_that_is_all_there_is(self) -> None:
        assert resolve("{{step_1.output.count}}", CONTEXT) == 2
        assert resolve(["{{step_1.output.items}}"], CONTEXT) == [[{"name": "first"}, {"name": "second"}]]
        assert resolve("{{step_1.output.none}}", CONTEXT) is None

    def test_gives_text_when_there_is_more(self) -> None:
        assert resolve("{{step_1.output.count}} ", CONTEXT) == "2 "

    def test_leaves_what_does_not_resolve(self) -> None:
        assert resolve("{{nobody.output}}", CONTEXT) == "{{nobody.output}}"


class TestReferences:
    def test_give_path_and_place(self) -> None:
        text = "a {{ x.y.0 }} b {{z}}"
        first, second = references(text)
        assert first.path == ("x", "y", "0")
        assert text[first.start : first.end] == "{{ x.y.0 }}"
        assert str(second) == "{{z}}"
        assert second.root == "z"

    @given(json_values)
    def test_are_found_in_every_text_of_a_value(self, value: JsonValue) -> None:
        marked = map_texts(value, lambda text: text + "{{mark.output}}")
        count = sum(1 for _ in texts_in(value))
        assert sum(one.path == ("mark", "output") for one in references_in(marked)) == count

    @given(st.lists(st.sampled_from(["{{", "}}", "a", ".", " ", "{", "}"]), max_size=20).map("".join))
    def test_stand_exactly_where_interpolation_puts_something(self, text: str) -> None:
        found = references(text)
        expected = text
        for one in reversed(found):
            expected = expected[: one.start] + "V" + expected[one.end :]
        context: dict[str, JsonValue] = {one.root: "V" for one in found if len(one.path) == 1}
        if all(len(one.path) == 1 for one in found):
            assert interpolate(text, context) == expected
