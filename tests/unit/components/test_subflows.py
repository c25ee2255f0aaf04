"""Steps that run flows: what each run is started with, and how results are returned."""

from typing import Any, cast

import pytest
from pydantic import JsonValue

from headgate.components.subflows import ForEach, Loop, RunFlow
from headgate.foundation.errors import Invalid
from headgate.sdk import ComponentError
from headgate.sdk.fake_flows import FakeFlows
from headgate.sdk.fakes import FakeContext
from headgate.sdk.flows import FlowInput
from headgate.sdk.values import Message

FLOW: dict[str, JsonValue] = {"flow_id": "f", "version": 3, "name": "Body", "fields": ["amount"]}


def context(answer: Any = None) -> FakeContext:
    return FakeContext(flows=FakeFlows(answer))


class TestRunFlow:
    async def test_starts_a_flow_once_with_text_and_answers(self) -> None:
        ctx = context()
        step = RunFlow(flow=FLOW, text=Message(role="user", text="hi"), answers={"amount": 5}).attach(ctx)
        assert (await step.as_text(), await step.result(), await step.run_id()) == ("hi", "hi", "run-1")
        ((target, inputs),) = ctx.flows.calls
        assert (target.flow_id, target.version, inputs.answers) == ("f", 3, {"amount": 5})

    async def test_refuses_a_flow_that_was_not_resolved(self) -> None:
        with pytest.raises(ComponentError, match="not resolved"):
            await RunFlow(flow="Body").attach(context()).result()

    async def test_refuses_answers_that_are_a_list(self) -> None:
        with pytest.raises(ComponentError, match="not an object"):
            await RunFlow(flow=FLOW, answers=[1]).attach(context()).result()


class TestForEach:
    async def test_members_of_an_item_answer_the_form(self) -> None:
        ctx = context(lambda inputs: inputs.answers["amount"])
        step = ForEach(items=[{"amount": 1, "other": 2}, {}], flow=FLOW, answers={"amount": 9}).attach(ctx)
        assert await step.results() == [1, 9]

    async def test_lines_of_a_text_are_items(self) -> None:
        step = ForEach.create({"items": "a\n\nb\n", "flow": FLOW, "template": "{index}: {item}"}).attach(context())
        assert await step.text() == "0: a\n\n1: b"

    async def test_errors_are_listed_with_their_items(self) -> None:
        def answer(inputs: FlowInput) -> JsonValue:
            if inputs.text == "bad":
                raise Invalid("It is bad.")
            return inputs.text

        step = ForEach(items=["good", "bad"], flow=FLOW, on_error="continue", with_item=True).attach(context(answer))
        assert await step.results() == [
            {"item": "good", "result": "good"},
            {"item": "bad", "error": "It is bad.", "code": "invalid"},
        ]
        (error,) = cast("list[dict[str, JsonValue]]", await step.errors())
        assert (error["index"], error["item"]) == (1, "bad")

    async def test_refuses_an_object(self) -> None:
        with pytest.raises(ComponentError, match="not a list"):
            await ForEach(items={"a": 1}, flow=FLOW).attach(context()).results()


class TestLoop:
    async def test_carries_the_result_to_the_next_round(self) -> None:
        ctx = context(lambda inputs: {"amount": inputs.answers.get("amount", 0) + 1})
        step = Loop(value={"amount": 1}, flow=FLOW, until="amount >= `4`", most=9).attach(ctx)
        assert (await step.result(), await step.rounds()) == ({"amount": 4}, {"rounds": 3, "holds": True})

    async def test_ends_at_the_limit(self) -> None:
        step = Loop(value="a", flow=FLOW, until="`false`", most=2).attach(context())
        assert await step.rounds() == {"rounds": 2, "holds": False}

    async def test_fails_at_the_limit_if_wanted(self) -> None:
        step = Loop(value="a", flow=FLOW, until="`false`", most=2, at_limit="fail").attach(context())
        with pytest.raises(ComponentError, match="after 2 rounds"):
            await step.result()
