"""What is kept of a server's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.mcptools.descriptions import MAX_DESCRIPTION, MAX_LEFT_OUT, Described, clean, taken_tools

OBJECT = {"type": "object", "properties": {"city": {"type": "string", "description": "A city."}}}


def taken(*tools: Described, most: int = 10) -> tuple[list[str], tuple[str, ...]]:
    found, left_out = taken_tools(tools, limit=most)
    return [tool.name for tool in found], left_out


class TestTakenTools:
    def test_keeps_what_is_fit(self) -> None:
        found, left_out = taken_tools([Described("get.weather-v2", "  Weather. ", OBJECT)], limit=5)
        assert (found[0].name, found[0].description, found[0].input_schema) == ("get.weather-v2", "Weather.", OBJECT)
        assert left_out == ()

    @pytest.mark.parametrize(
        ("tool", "reason"),
        [
            (Described("", "", OBJECT), "its name must have"),
            (Described("a b", "", OBJECT), "its name must have"),
            (Described("å", "", OBJECT), "its name must have"),
            (Described("x" * 129, "", OBJECT), "its name must have"),
            (Described("x\n", "", OBJECT), "its name must have"),
            (Described("x", "", {"type": "array"}), "its arguments must be an object"),
            (Described("x", "", {}), "its arguments must be an object"),
            (Described("x", "", {"type": "object", "properties": 3}), "its schema is not valid"),
            (Described("x", "", {"type": "object", "required": "city"}), "its schema is not valid"),
            (Described("x", "", {"type": "object", "x": {1, 2}}), "its schema is not JSON"),
            (Described("x", "", {"type": "object", "title": "t" * 70_000}), "larger than"),
            (Described("x", "", {"type": "object", "$ref": "file:///etc/passwd"}), "the external schema"),
            (Described("x", "", {"type": "object", "anyOf": [{"$ref": "other.json"}]}), "the external schema"),
        ],
    )
    def test_leaves_out_the_rest_and_says_why(self, tool: Described, reason: str) -> None:
        names, (why,) = taken(tool)
        assert names == []
        assert reason in why

    def test_takes_a_reference_within_the_schema(self) -> None:
        schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
        assert taken(Described("x", "", schema)) == (["x"], ())

    def test_bounds_the_nesting_without_recursion(self) -> None:
        schema: dict[str, object] = {"type": "object"}
        for _ in range(50_000):
            schema = {"type": "object", "properties": schema}
        names, (why,) = taken(Described("x", "", schema))
        assert names == []
        assert "levels deep" in why

    def test_bounds_the_number(self) -> None:
        names, left_out = taken(*[Described(f"t{number}", "", OBJECT) for number in range(12)])
        assert len(names) == 10
        assert left_out == ("2 more tools than the maximum of 10 for each server",)

    def test_bounds_what_it_says(self) -> None:
        _, left_out = taken(*[Described("bad name", "", OBJECT)] * 500)
        assert len(left_out) == MAX_LEFT_OUT + 1
        assert left_out[-1] == "and 480 more"

    def test_cleans_the_texts_inside_a_schema(self) -> None:
        hidden = "A city.\u202e\U000e0041\u200b"
        schema = {"type": "object", "properties": {"city": {"type": "string", "description": hidden}}}
        found, _ = taken_tools([Described("x", "y" * 9000, schema)], limit=1)
        assert found[0].input_schema == OBJECT
        assert len(found[0].description) == MAX_DESCRIPTION


class TestClean:
    def test_keeps_every_script_and_line_breaks(self) -> None:
        text = "Väder i Malmö\n\t天気 🌦 ✓ — «x»"
        assert clean(text) == text

    @given(st.text())
    def test_leaves_nothing_that_is_not_seen(self, text: str) -> None:
        found = clean(text)
        assert clean(found) == found
        assert not any(one in found for one in "\x00\x1b\u200b\u202e\ufeff\U000e0041")
