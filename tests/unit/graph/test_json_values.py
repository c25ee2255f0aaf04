import pytest
from hypothesis import given
from pydantic import JsonValue, ValidationError

from headgate.graph.json_values import parse_json, plain_json
from headgate.graph.model import Flow, Node
from tests.unit.graph.strategies import json_values


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    return value


class TestPlainJson:
    @given(json_values)
    def test_gives_what_can_be_stored_back(self, value: JsonValue) -> None:
        assert plain_json(value) is value

    @pytest.mark.parametrize(
        "value",
        [float("nan"), float("inf"), 2**64, -(2**63) - 1, "a\x00b", "\ud800", ["\x00"], {"\x00": 1}, nested(65)],
    )
    def test_refuses_what_some_database_or_browser_would_change(self, value: JsonValue) -> None:
        with pytest.raises(ValueError, match=r"NUL|finite|64"):
            plain_json(value)

    def test_takes_the_deepest_nesting_allowed(self) -> None:
        assert plain_json(nested(64)) == nested(64)


class TestParseJson:
    def test_reads_json(self) -> None:
        assert parse_json('{"a": [1, 2.5, null, "[{"]}') == {"a": [1, 2.5, None, "[{"]}

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("[" * 100_000, "nested deeper"),
            ('{"a":' * 100_000, "nested deeper"),
            ("NaN", "NaN is not JSON"),
            ("[1e999]", "finite"),
            ('{"a": 1, "a": 2}', "'a' appears twice"),
            ('"\\u0000"', "NUL"),
            ("[1,", "Expecting"),
            ("9" * 5000, "digits|64 bits"),
        ],
    )
    def test_refuses_hostile_text_with_a_value_error(self, text: str, reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            parse_json(text)


class TestFlowModel:
    def test_refuses_what_cannot_be_stored_wherever_it_stands(self) -> None:
        for members in ({"label": "\x00"}, {"params": {"x": float("nan")}}, {"code": "\x00"}, {"params": {"x": 2**80}}):
            with pytest.raises(ValidationError):
                Node.model_validate({"id": "a", "type": "A", **members})
        with pytest.raises(ValidationError):
            Flow(name="\x00")
