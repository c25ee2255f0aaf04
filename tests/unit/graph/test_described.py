"""Outputs that are described before a run: read as contracts, compared with contracts and references."""

from typing import Any

import pytest

from headgate.graph.described import contract_form, described_issues
from headgate.graph.issues import Issue
from headgate.graph.model import Flow
from headgate.graph.spec import read_spec
from headgate.graph.wiring import wire
from tests.unit.components.test_builtins import Builtins

ISSUE: dict[str, Any] = {
    "$ref": "#/$defs/Issue",
    "$defs": {
        "Issue": {
            "allOf": [
                {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "minimum": 1}}},
                {"properties": {"title": {"type": "string"}, "author": {"$ref": "#/$defs/Person"}}},
            ]
        },
        "Person": {
            "properties": {
                "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "boss": {"$ref": "#/$defs/Person"},
                "tags": {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
            }
        },
    },
}
FLOW = """name: F
nodes:
  call: ParseJSON
    text: '{{}}'
  use: TextInput
    text: {text}
edges:
  call.data -> use.text
"""


def form_of(schema: Any) -> Any:
    return contract_form(schema)


class TestContractForm:
    def test_follows_references_and_merges_parts(self) -> None:
        form = form_of(ISSUE)
        assert form["required"] == ["id"]
        assert form["properties"]["id"] == {"type": "integer"}
        author = form["properties"]["author"]
        assert author["properties"]["name"] == {"type": ["string", "null"]}
        assert author["properties"]["tags"] == {"type": "array", "items": {}}

    def test_ends_where_a_schema_refers_to_itself(self) -> None:
        levels, inner = 0, form_of(ISSUE)["properties"]["author"]
        while inner:
            levels, inner = levels + 1, inner["properties"]["boss"]
        assert levels < 8

    @pytest.mark.parametrize(
        "schema", [None, [], {"$ref": "#/$defs/Gone"}, {"anyOf": [{"type": "string"}, {"type": "array"}]}, {"type": 3}]
    )
    def test_is_open_where_contracts_have_no_words(self, schema: Any) -> None:
        assert form_of(schema) == {}

    def test_of_a_schema_that_grows_is_bounded(self) -> None:
        wide = {f"m{number}": {"$ref": "#/$defs/W"} for number in range(20)}
        form = form_of({"$ref": "#/$defs/W", "$defs": {"W": {"properties": wide}}})
        assert len(str(form)) < 200_000


def flow(text: str, **policy: Any) -> Flow:
    made = read_spec(FLOW.format(text=text), Builtins())
    nodes = [
        node.model_copy(update={"policy": node.policy.model_copy(update=policy)}) if node.id == "use" else node
        for node in made.nodes
    ]
    return made.model_copy(update={"nodes": tuple(nodes)})


def issues(made: Flow, schema: dict[str, Any] | None = None) -> list[Issue]:
    return list(described_issues(wire(made, Builtins()), {"call": form_of(schema or ISSUE)}))


class TestReferences:
    @pytest.mark.parametrize(
        "path", ["output", "output.title", "data.author.boss.name", "output.author.tags.0", "output.title.anything"]
    )
    def test_to_what_is_described_are_fine(self, path: str) -> None:
        assert issues(flow(f"'{{{{call.{path}}}}}'")) == []

    @pytest.mark.parametrize(
        ("path", "missing", "hint"), [("titel", "titel", "title"), ("author.nam", "author.nam", "name")]
    )
    def test_to_what_is_not_get_a_warning_with_the_nearest(self, path: str, missing: str, hint: str) -> None:
        (issue,) = issues(flow(f"'{{{{call.output.{path}}}}}'"))
        assert (issue.code, issue.severity, issue.node, issue.field) == (
            "unresolved_reference",
            "warning",
            "use",
            "text",
        )
        assert f"refers to '{missing}', which the described output of 'call' does not have" in issue.message
        assert f"'{hint}'" in issue.message

    def test_into_an_object_with_more_members_are_fine(self) -> None:
        schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
        assert issues(flow("'{{call.output.b}}'"), schema) == []


class TestContracts:
    def required(self, schema: dict[str, Any], **policy: Any) -> list[str]:
        contract: dict[str, Any] = {"type": "json", "schema": schema}
        found = issues(flow("x", input_contract=contract, **policy))
        assert {issue.severity for issue in found} <= {"warning"}
        return [issue.message for issue in found]

    def test_that_the_description_satisfies_are_fine(self) -> None:
        assert self.required({"type": "object", "required": ["id"], "properties": {"id": {"type": "number"}}}) == []

    def test_that_it_does_not_get_a_warning(self) -> None:
        (message,) = self.required({"type": "object", "properties": {"id": {"type": "string"}}})
        assert "the output of 'call', as described, may not satisfy" in message
        assert "$.id: must be string, but may be integer" in message

    def test_of_a_part_that_is_left_open_are_checked_by_the_run(self) -> None:
        tags: dict[str, Any] = {"type": "array", "items": {"type": "boolean"}}
        bound = {"input_bindings": {"text": "{{call.output.author.tags}}"}}
        assert self.required(tags, **bound) == []
        assert self.required({"type": "string"}, **bound) != []
