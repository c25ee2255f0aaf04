"""Schemas that users write."""

import time
from typing import Any

import pytest

from headgate.components.data.schema_check import full_schema, problems
from headgate.sdk import ComponentError


class TestFullSchema:
    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "object", "properties": {"a": {"type": "string"}}},
            {"type": "array", "items": {"type": "object"}},
            {"type": "string"},
            {"anyOf": [{"type": "null"}, {"type": "string"}]},
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
            {"type": "object"},
        ],
    )
    def test_leaves_a_schema_alone(self, schema: dict[str, Any]) -> None:
        assert full_schema(schema, subject="X") == schema

    def test_completes_the_short_form(self) -> None:
        assert full_schema('{"type": "string", "price": "number?", "tags": {"type": "array"}}', subject="X") == {
            "type": "object",
            "properties": {"type": {"type": "string"}, "price": {"type": "number"}, "tags": {"type": "array"}},
            "required": ["type", "tags"],
            "additionalProperties": False,
        }

    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ("{", "not JSON"),
            ({}, "an object, not an object with fields"),
            ([1], "a list of 1"),
            ({"name": "text"}, "the type of 'name' is text"),
            ({"type": "text"}, "'text' is not valid"),
            ({"type": "object", "description": "x" * 200_000}, "more than 100000 bytes"),
        ],
    )
    def test_says_what_is_wrong(self, schema: Any, words: str) -> None:
        with pytest.raises(ComponentError) as caught:
            full_schema(schema, subject="X")
        assert words in caught.value.detail


class TestProblems:
    def test_names_each_place(self) -> None:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"pattern": "^x"}},
            "required": ["c"],
        }
        found = problems({"a": [1, "two"], "b": "y"}, schema)
        assert any(line.startswith("$.a[1]: 'two' is not of type 'integer'") for line in found)
        assert any("'c' is a required property" in line for line in found)
        assert any("does not match" in line for line in found)
        assert problems({"a": [1], "b": "xy", "c": None}, schema) == []

    def test_applies_patterns_of_properties(self) -> None:
        schema: dict[str, Any] = {"patternProperties": {"^n_": {"type": "integer"}}}
        assert problems({"n_a": 1, "b": "x"}, schema) == []
        assert problems({"n_a": "x"}, schema) == ["$.n_a: 'x' is not of type 'integer'"]

    @pytest.mark.parametrize(
        "schema",
        [
            {"$ref": "http://127.0.0.1:9/schema.json"},
            {"$ref": "file:///etc/passwd"},
            {"$ref": "#"},
            {"pattern": "(?=x)"},
        ],
    )
    def test_reaches_out_nowhere_and_always_ends(self, schema: dict[str, Any]) -> None:
        (problem,) = problems("text", schema)
        assert "cannot be applied" in problem or "$: the schema refers to itself in a loop" in problem

    def test_matches_in_linear_time(self) -> None:
        began = time.process_time()
        assert problems("a" * 50_000 + "!", {"pattern": "^(a+)+$"})
        assert time.process_time() - began < 5

    def test_bounds_what_it_tells(self) -> None:
        assert len(problems(["x"] * 100, {"items": {"type": "integer"}})) == 10
