import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.canonical import canonical_json, checksum, logic_checksum
from headgate.graph.layout import arrange
from headgate.graph.model import Flow, FlowSettings, FormField, StepPolicy
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, json_values
from tests.unit.graph.wires import edge, flow, node

BASE = flow(node("a", "URL", url="x"), node("b", "CombineText"), edges="a.text -> b.parts")


def shuffled(value: JsonValue) -> JsonValue:
    """The value with the members of every object in another order."""
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(one) for one in value] if isinstance(value, list) else value


class TestCanonicalJson:
    @given(json_values)
    def test_does_not_depend_on_the_order_of_members(self, value: JsonValue) -> None:
        assert canonical_json(shuffled(value)) == canonical_json(value)

    @given(json_values)
    def test_reads_back(self, value: JsonValue) -> None:
        assert json.loads(canonical_json(value)) == value

    def test_is_compact_and_keeps_every_script(self) -> None:
        assert canonical_json({"b": [1, True], "a": "å"}) == '{"a":"å","b":[1,true]}'

    def test_refuses_what_is_not_json(self) -> None:
        with pytest.raises(ValueError, match="Out of range"):
            canonical_json(float("nan"))


class TestChecksum:
    @SOME
    @given(flows())
    def test_survives_storage(self, made: Flow) -> None:
        assert checksum(Flow.model_validate_json(made.model_dump_json())) == checksum(made)
        stored = made.model_dump(mode="json", exclude_defaults=True)
        assert checksum(Flow.model_validate(stored)) == checksum(made)

    def test_counts_cosmetics(self) -> None:
        assert checksum(arrange(BASE)) != checksum(BASE)
        assert checksum(BASE.model_copy(update={"name": "Other"})) != checksum(BASE)


class TestLogicChecksum:
    @SOME
    @given(flows(), st.text(min_size=1, max_size=20).filter(lambda text: "\x00" not in text))
    def test_ignores_cosmetic_edits(self, made: Flow, text: str) -> None:
        nodes = tuple(one.model_copy(update={"label": text}) for one in arrange(made).nodes)
        looks = FlowSettings.model_validate(made.settings.model_dump() | {"icon": text, "widget": {"x": text}})
        cosmetic = made.model_copy(update={"nodes": nodes, "name": text, "description": text, "settings": looks})
        assert logic_checksum(cosmetic) == logic_checksum(made)

    @pytest.mark.parametrize(
        "changed",
        [
            flow(node("a", "URL", url="y"), node("b", "CombineText"), edges="a.text -> b.parts"),
            flow(node("a", "URL", url=1), node("b", "CombineText"), edges="a.text -> b.parts"),
            flow(node("c", "URL", url="x"), node("b", "CombineText"), edges="c.text -> b.parts"),
            flow(node("a", "URL", url="x"), node("b", "CombineText"), edges="a.title -> b.parts"),
            flow(node("b", "CombineText"), node("a", "URL", url="x"), edges="a.text -> b.parts"),
            flow(node("a", "URL", url="x"), node("b", "CombineText", StepPolicy(tool_policy="restricted"))),
            BASE.model_copy(update={"form": (FormField(id="x"),)}),
            BASE.model_copy(update={"settings": FlowSettings(data_retention_days=3)}),
            BASE.model_copy(update={"edges": (*BASE.edges, edge("a.links -> b.parts"))}),
        ],
    )
    def test_changes_with_the_logic(self, changed: Flow) -> None:
        assert logic_checksum(changed) != logic_checksum(BASE)

    def test_ignores_notes_when_it_knows_them(self) -> None:
        noted = BASE.model_copy(update={"nodes": (*BASE.nodes, node("n", "Note", text="hi"))})
        assert logic_checksum(noted, PALETTE) == logic_checksum(BASE, PALETTE)
