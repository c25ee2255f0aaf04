"""One value for the results of many items."""

from typing import Any, cast

import pytest
from pydantic import JsonValue

from headgate.components.iteration import ForEach
from headgate.components.mapping import Map
from headgate.components.reducing import reduce, reduced_type
from headgate.components.subflows import Loop
from headgate.foundation.errors import Invalid
from headgate.graph.ports import PortType
from headgate.sdk import ComponentError, Table
from headgate.sdk.fake_flows import FakeFlows
from headgate.sdk.fakes import FakeContext
from headgate.sdk.flows import FlowInput
from headgate.sdk.testing import StepHarness

FLOW: dict[str, JsonValue] = {"flow_id": "f", "version": 3, "name": "Body", "fields": ["before"]}
ROWS = Table.from_records([{"a": 1}, {"a": 2}, {"a": 3}])


def context(answer: Any = None) -> FakeContext:
    return FakeContext(flows=FakeFlows(answer))


class TestReduce:
    @pytest.mark.parametrize(
        ("how", "values", "expected"),
        [
            ("sum", [1, 2, "3"], 6),
            ("sum", [0.1] * 10, 1.0),
            ("sum", [], 0),
            ("mean", [1, 2], 1.5),
            ("mean", [], None),
            ("min", [3, 1.5, " 2 "], 1.5),
            ("max", [3, 1], 3),
            ("max", [], None),
            ("count", ["a", None], 2),
            ("first", [{"a": 1}, 2], {"a": 1}),
            ("last", [1, None], None),
            ("join", ["a", 2], "a\n2"),
            ("merge", [{"a": 1, "b": 1}, {"b": 2}], {"a": 1, "b": 2}),
            ("rows", [[{"a": 1}, {"a": 2}], {"a": 3}], ROWS),
        ],
    )
    def test_returns_one_value(self, how: Any, values: list[JsonValue], expected: Any) -> None:
        assert reduce(dict(enumerate(values)), how, "", subject="Map") == expected

    def test_reads_a_member_of_each_result(self) -> None:
        values: dict[int, JsonValue] = {0: {"order": {"total": 2}}, 4: {"order": {"total": 3}}}
        assert reduce(values, "sum", "order.total", subject="Map") == 5

    @pytest.mark.parametrize(
        ("how", "value", "member", "words"),
        [
            ("sum", "many", "", r"sum needs numbers, and the result of item 7 \(counted from 0\) is text"),
            ("sum", True, "", "sum needs numbers"),
            ("max", "nan", "", "max needs numbers"),
            ("mean", {"a": 1}, "b", r"the result of item 7 \(counted from 0\) has no 'b'"),
            ("sum", {"a": 1}, "sort_by(a, &b)", "is not a member of a result"),
            ("merge", [1], "", "cannot be reduced by merge: .* is not an object"),
            ("rows", "text", "", "cannot be reduced by rows"),
        ],
    )
    def test_names_what_does_not_fit(self, how: Any, value: JsonValue, member: str, words: str) -> None:
        with pytest.raises(ComponentError, match=words):
            reduce({7: value}, how, member, subject="Map")


class TestOutput:
    @pytest.mark.parametrize("component", [ForEach, Map])
    def test_has_the_type_of_the_reduction(self, component: type[ForEach | Map]) -> None:
        types = {how: component.template({"reduce": how}).output("reduced") for how in ("join", "rows", "sum")}
        assert [one and one.type for one in types.values()] == [PortType.TEXT, PortType.TABLE, PortType.DATA]
        assert component.template({"reduce": "other"}).output("reduced") is None
        assert component.template({}).output("reduced") is None
        assert reduced_type([]) is None

    async def test_omits_failed_items(self) -> None:
        def answer(inputs: FlowInput) -> JsonValue:
            if inputs.text == "bad":
                raise Invalid("It is bad.")
            return len(inputs.text)

        step = ForEach(items=["a", "bad", "cc"], flow=FLOW, on_error="continue", reduce="sum").attach(context(answer))
        assert await step.produce_extra("reduced") == 3

    async def test_is_an_output_of_a_map(self) -> None:
        values = {"items": [1, 2], "template": "{item}", "reduce": "mean"}
        assert (await StepHarness().run(Map, values, outputs=["reduced"]))["reduced"] == 1.5


class TestCarry:
    async def test_a_flow_gets_the_result_before_and_the_item(self) -> None:
        def answer(inputs: FlowInput) -> JsonValue:
            if inputs.text == "0":
                raise Invalid("It is zero.")
            return int(str(inputs.answers["before"])) * int(inputs.text)

        ctx = context(answer)
        step = ForEach(
            items=[2, 0, 3], flow=FLOW, carry="before", initial=5, on_error="continue", reduce="last"
        ).attach(ctx)
        assert await step.produce_extra("reduced") == 30
        assert [inputs.answers["before"] for _, inputs in ctx.flows.calls] == [5, 10, 10]
        with pytest.raises(ComponentError, match="has no field 'other'"):
            await ForEach(items=[2], flow=FLOW, carry="other").attach(context()).results()


class TestLoopOutputs:
    async def test_are_members_of_the_last_result(self) -> None:
        ctx = context(lambda inputs: {"n": 4, "note": "done", "rows": [{"a": 1}, {"a": 2}, {"a": 3}]})
        outputs: dict[str, str] = {"note": "Text", "rows": "Table", "reached": "Text"}
        step = Loop(value=1, flow=FLOW, until="n >= `4`", most=9, outputs=outputs).attach(ctx)
        assert {one.name: one.type for one in Loop.extra_outputs({"outputs": cast("JsonValue", outputs)})} == {
            "note": "Text",
            "rows": "Table",
        }
        assert await step.produce_extra("note") == "done"
        assert await step.produce_extra("rows") == ROWS
        missing = Loop(value=1, flow=FLOW, until="n >= `4`", most=9, outputs={"other": "Text"}).attach(ctx)
        with pytest.raises(ComponentError, match="Loop: the result of the flow has no 'other'"):
            await missing.produce_extra("other")
