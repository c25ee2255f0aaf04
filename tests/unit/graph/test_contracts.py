from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.contracts import canonical_contract, check_contract, compatible, violations

PERSON: dict[str, JsonValue] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
    "additionalProperties": False,
}


def told(found: object) -> list[str]:
    return [str(one) for one in found]  # type: ignore[attr-defined]


class TestCanonicalContract:
    def test_wraps_a_bare_schema(self) -> None:
        assert canonical_contract(PERSON) == {"type": "json", "schema": PERSON}
        assert canonical_contract({"properties": {}}) == {"type": "json", "schema": {"properties": {}}}

    def test_leaves_the_two_forms_as_they_are(self) -> None:
        for contract in ({"type": "json", "schema": PERSON}, {"type": "text", "max_length": 5}):
            assert canonical_contract(contract) == contract  # type: ignore[arg-type]


class TestCheckContract:
    @pytest.mark.parametrize(
        "contract",
        [
            PERSON,
            {"type": "json"},
            {"type": "json", "schema": {"type": ["string", "null"], "title": "T", "description": "D"}},
            {"type": "text", "format": "markdown", "min_length": 1, "max_length": 5, "max_bytes": 10},
            {"type": "image", "format": "image/*", "max_bytes": 10, "max_count": 2},
        ],
    )
    def test_passes_what_is_in_the_subset(self, contract: dict[str, JsonValue]) -> None:
        assert check_contract(contract) == []

    @pytest.mark.parametrize(
        ("contract", "expected"),
        [
            ({"type": "txt"}, "$.type: there is no contract type 'txt'; did you mean 'text'?"),
            (
                {"type": "json", "schema": {"requird": ["a"]}},
                "keyword 'requird' is not supported; did you mean 'required'?",
            ),
            ({"type": "object", "properties": {"a": {"$ref": "#"}}}, "$.schema.properties.a: keyword '$ref'"),
            ({"type": "object", "properties": {"a b": 1}}, '$.schema.properties["a b"]: a schema must be an object'),
            ({"type": "array", "items": [{}]}, "$.schema.items: a schema must be an object, not an array"),
            ({"type": "json", "schema": {"type": "strng"}}, "no JSON type 'strng'; did you mean 'string'?"),
            ({"type": "json", "schema": {"type": []}}, "the list of types is empty"),
            ({"type": "json", "schema": {"enum": []}}, "at least one value"),
            ({"type": "json", "schema": {"required": "a"}}, "must be a list of property names"),
            ({"type": "json", "schema": {"properties": []}}, "must be an object of property name"),
            (
                {"type": "json", "schema": {"additionalProperties": 5}},
                "Properties: a schema must be an object",
            ),
            ({"type": "json", "shema": {}}, "has no 'shema'; did you mean 'schema'?"),
            ({"type": "text", "max_count": 1}, "a text contract has no 'max_count'"),
            ({"type": "text", "max_length": "5"}, "$.max_length: must be a whole number"),
            ({"type": "text", "max_length": True}, "$.max_length: must be a whole number"),
            ({"type": "text", "min_length": 5, "max_length": 2}, "$.min_length: is over max_length (2)"),
            ({"type": "text", "format": "markdwn"}, "no text format 'markdwn'; did you mean 'markdown'?"),
            ({"type": "file", "format": 5}, "$.format: must be text"),
        ],
    )
    def test_says_what_is_not(self, contract: dict[str, JsonValue], expected: str) -> None:
        assert any(expected in one for one in told(check_contract(contract)))

    def test_refuses_a_schema_nested_without_end(self) -> None:
        schema: dict[str, JsonValue] = {"type": "string"}
        for _ in range(60):
            schema = {"items": schema}
        assert "nested deeper" in told(check_contract({"type": "json", "schema": schema}))[0]

    @given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
    def test_never_fails_on_any_schema(self, schema: JsonValue) -> None:
        check_contract({"type": "json", "schema": schema})


class TestViolations:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ({"name": "A", "age": 3, "tags": ["a"]}, []),
            ({}, ["$.name: is missing"]),
            ({"name": 5}, ["$.name: must be string, not a number"]),
            ({"name": "A", "tags": ["a", "x"]}, ['$.tags[1]: must be one of "a", "b"']),
            ({"name": "A", "x y": 1}, ['$["x y"]: is not allowed here']),
            ([], ["$: must be object, not an array"]),
            ({"age": 1.5}, ["$.age: must be integer, not a number", "$.name: is missing"]),
        ],
    )
    def test_carry_the_json_path(self, value: JsonValue, expected: list[str]) -> None:
        assert told(violations(value, PERSON)) == expected

    def test_reach_deep(self) -> None:
        contract: dict[str, JsonValue] = {"type": "array", "items": {"type": "object", "required": ["name"]}}
        assert told(violations([{"name": 1}, {}], contract)) == ["$[1].name: is missing"]

    def test_never_repeat_the_value_and_stop_at_twenty(self) -> None:
        found = violations(["secret"] * 100, {"type": "array", "items": {"type": "integer"}})
        assert len(found) == 20
        assert "secret" not in str(found)

    @pytest.mark.parametrize(
        ("value", "contract", "expected"),
        [
            ("abc", {"type": "text"}, []),
            (5, {"type": "text"}, ["$: must be a text, not a number"]),
            ("a", {"type": "text", "min_length": 2}, ["$: must have at least 2 characters, has 1"]),
            (
                "åäö",
                {"type": "text", "max_length": 2, "max_bytes": 5},
                ["at most 2 characters", "at most 5 bytes, has 6"],
            ),
        ],
    )
    def test_measure_text(self, value: JsonValue, contract: dict[str, JsonValue], expected: list[str]) -> None:
        found = told(violations(value, contract))
        assert len(found) == len(expected)
        assert all(part in one for part, one in zip(expected, found, strict=True))

    @pytest.mark.parametrize(
        ("media_type", "name", "contract", "ok"),
        [
            ("image/png", "a.png", {"type": "image"}, True),
            ("image/png", "a.png", {"type": "image", "format": "image/*"}, True),
            ("image/png", "a.png", {"type": "image", "format": "jpeg"}, False),
            ("IMAGE/PNG; x=1", "a", {"type": "image", "format": "png"}, True),
            ("text/plain", "a.txt", {"type": "image"}, False),
            ("application/pdf", "a.pdf", {"type": "document", "format": "application/pdf"}, True),
            ("audio/mpeg", "a.mp3", {"type": "document"}, False),
            ("application/zip", "a.zip", {"type": "file", "max_bytes": 10}, True),
            ("application/zip", "a.zip", {"type": "file", "max_bytes": 9}, False),
        ],
    )
    def test_look_at_files(self, media_type: str, name: str, contract: dict[str, JsonValue], ok: bool) -> None:
        file: JsonValue = {"id": "1", "name": name, "media_type": media_type, "size": 10}
        assert (violations(file, contract) == []) is ok
        assert (violations([file], contract) == []) is ok

    def test_count_files(self) -> None:
        file: JsonValue = {"id": "1", "name": "a", "media_type": "image/png", "size": 1}
        contract: dict[str, JsonValue] = {"type": "image", "max_count": 1}
        assert told(violations([file, file], contract)) == ["$: must be at most 1 files, are 2"]
        assert told(violations(["x"], contract)) == ["$[0]: must be a file, not a string"]

    def test_are_not_asked_of_a_faulty_contract(self) -> None:
        with pytest.raises(ValueError, match="faulty contract"):
            violations("a", {"type": "nope"})


class TestCompatible:
    def test_compares_nothing_where_one_side_says_nothing(self) -> None:
        assert compatible(None, PERSON) == compatible(PERSON, None) == []

    def test_finds_a_contract_compatible_with_itself(self) -> None:
        assert compatible(PERSON, PERSON) == []

    @pytest.mark.parametrize(
        ("given_", "wanted", "expected"),
        [
            ({"type": "object"}, PERSON, "$.name: is required, but not promised"),
            ({"type": "string"}, PERSON, "$: must be object, but may be string"),
            (
                {"properties": {"a": {"type": "number"}}},
                {"properties": {"a": {"type": "integer"}}},
                "$.a: must be integer",
            ),
            ({"enum": ["a", "c"]}, {"enum": ["a", "b"]}, 'but may be "c"'),
            ({"type": "string"}, {"enum": ["a"]}, "but may be any value"),
            (
                {"type": "object", "properties": {"x": {}}},
                {**PERSON, "required": []},
                ("$.x: is present, but not allowed"),
            ),
            ({"type": "object"}, {**PERSON, "required": []}, "must have no additional properties, but may have some"),
            (
                {"type": "array", "items": {"type": "string"}},
                {"type": "array", "items": {"type": "number"}},
                "$[*]: must be number, but may be string",
            ),
            ({"type": "text"}, {"type": "json"}, "$: must be json, but is text"),
            ({"type": "file"}, {"type": "image"}, "$: must be image, but is file"),
            ({"type": "text", "max_length": 9}, {"type": "text", "max_length": 5}, "must be at most 5, but may be 9"),
            ({"type": "text"}, {"type": "text", "min_length": 1}, "must be at least 1, but may be 0"),
            ({"type": "text"}, {"type": "text", "format": "html"}, "must be html, but is any"),
        ],
    )
    def test_explains_each_gap(self, given_: dict[str, JsonValue], wanted: dict[str, JsonValue], expected: str) -> None:
        assert any(expected in one for one in told(compatible(given_, wanted)))

    @pytest.mark.parametrize(
        ("given_", "wanted"),
        [
            ({"type": "integer"}, {"type": "number"}),
            ({"type": "integer"}, {"type": "json", "schema": {}}),
            ({"enum": ["a"]}, {"enum": ["a", "b"]}),
            ({"type": "image"}, {"type": "file"}),
            ({"type": "json"}, {"type": "text"}),
            ({"type": "text", "max_length": 5, "format": "html"}, {"type": "text", "max_length": 5, "format": "html"}),
        ],
    )
    def test_allows_what_is_narrower(self, given_: dict[str, JsonValue], wanted: dict[str, JsonValue]) -> None:
        assert compatible(given_, wanted) == []


class TestManyViolations:
    def test_say_that_there_are_more_than_are_listed(self) -> None:
        contract: Any = {"type": "json", "schema": {"type": "array", "items": {"type": "string"}}}
        found = violations(list(range(21)), contract)
        assert len(found) == 20
        assert str(found[-1]) == "$: has further violations"
        assert "further" not in str(violations(list(range(20)), contract)[-1])
