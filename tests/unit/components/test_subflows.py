"""Steps that run flows: what each run is started with, and how results are returned."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from pydantic import JsonValue

from headgate.components.iteration import ForEach
from headgate.components.subflows import Loop, RunFlow
from headgate.foundation.errors import Invalid
from headgate.sdk import NOT_TAKEN, ComponentError
from headgate.sdk.calls import CallRequest, CallResult
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

    async def test_a_field_of_the_form_gets_the_whole_item(self) -> None:
        ctx = context(lambda inputs: inputs.answers["amount"])
        step = ForEach(items=[{"other": 2}, "b"], flow=FLOW, item_field="amount").attach(ctx)
        assert await step.results() == [{"other": 2}, "b"]
        refused = ForEach(items=["b"], flow=FLOW, item_field="none").attach(context())
        with pytest.raises(ComponentError, match="the form of 'Body' has no field 'none'") as caught:
            await refused.results()
        assert caught.value.remedy == "Fields of its form: amount."

    async def test_a_field_of_the_form_gets_the_value_of_each_round(self) -> None:
        ctx = context(lambda inputs: inputs.answers["amount"] + 1)
        step = Loop(value=1, flow=FLOW, value_field="amount", until="@ >= `4`", most=9).attach(ctx)
        assert (await step.result(), await step.rounds()) == (4, {"rounds": 3, "holds": True})

    async def test_lines_of_a_text_are_items(self) -> None:
        step = ForEach.create({"items": "a\n\nb\n", "flow": FLOW, "template": "{index}: {item}"}).attach(context())
        assert await step.text() == "0: a\n\n1: b"

    async def test_members_of_the_results_have_outputs(self) -> None:
        """Texts are joined, rows appended, other values listed; of a failed item the error is listed."""

        def answer(inputs: FlowInput) -> JsonValue:
            if inputs.text == "bad":
                raise Invalid("It is bad.")
            return {"said": inputs.text, "rows": [{"row": inputs.text}], "n": len(inputs.text)}

        outputs: dict[str, str] = {
            "said": "Text",
            "rows": "Table",
            "n": "Data",
            "text": "Text",
            "errors": "Data",
            "no": "Nothing",
        }
        declared = {one.name: one.type for one in ForEach.extra_outputs({"outputs": cast("JsonValue", outputs)})}
        assert declared == {"said": "Text", "rows": "Table", "n": "Data"}
        step = ForEach(items=["a", "bad", "cc"], flow=FLOW, on_error="continue", outputs=outputs)
        step = step.attach(context(answer))
        assert await step.produce_extra("said") == "a\n\ncc"
        assert (await step.produce_extra("rows")).records() == [{"row": "a"}, {"row": "cc"}]
        assert await step.produce_extra("n") == [1, {"error": "It is bad.", "code": "invalid"}, 2]
        wrong = ForEach(items=["a"], flow=FLOW, outputs={"other": "Text"}).attach(context(answer))
        with pytest.raises(ComponentError, match="the result of the flow has no 'other'"):
            await wrong.produce_extra("other")

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

    async def test_a_file_reaches_the_flow_and_answers_its_field_for_files(self) -> None:
        ctx = context()
        file = ctx.files.add("a.pdf", b"%PDF")
        item = {**file.model_dump(mode="json"), "path": "in/a.pdf"}
        flow = {**FLOW, "fields": ["report", "path"], "file_fields": ["report"]}
        await ForEach.create({"items": [item], "flow": flow, "template": "Read {item.name}"}).attach(ctx).results()
        ((_, inputs),) = ctx.flows.calls
        assert (inputs.text, inputs.files) == ("Read a.pdf", (file,))
        assert inputs.answers == {"report": file.id, "path": "in/a.pdf"}

    async def test_files_in_a_row_answer_fields_for_files_only(self) -> None:
        ctx = context()
        one, two = [ctx.files.add(name, b"x").model_dump(mode="json") for name in ("a.txt", "b.txt")]
        row = {"cover": one, "more": [one, two], "facts": two}
        flow = {**FLOW, "fields": ["cover", "more", "facts"], "file_fields": ["cover", "more"]}
        await ForEach(items=[row], flow=flow).attach(ctx).results()
        ((_, inputs),) = ctx.flows.calls
        assert inputs.answers == {"cover": one["id"], "more": [one["id"], two["id"]], "facts": two}
        assert [file.name for file in inputs.files] == ["a.txt", "b.txt"]

    async def test_refuses_an_object(self) -> None:
        with pytest.raises(ComponentError, match="not a list"):
            await ForEach(items={"a": 1}, flow=FLOW).attach(context()).results()


class TestPolling:
    @pytest.fixture
    def ctx(self, monkeypatch: pytest.MonkeyPatch) -> FakeContext:
        """A context in which time passes with waits only, and answers of `once` are stored."""
        now = datetime(2026, 1, 1, tzinfo=UTC)
        ctx, stored = context(), dict[str, JsonValue]()
        ctx.flows = FakeFlows(lambda _: {"amount": len(ctx.flows.calls)})

        async def sleep(seconds: float, *, restartable: bool = False) -> None:
            nonlocal now
            assert restartable
            ctx.slept.append(seconds)
            now += timedelta(seconds=seconds)

        async def once(request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
            if request.digest not in stored:
                stored[request.digest] = await call()
            return CallResult(stored[request.digest])

        monkeypatch.setattr(ctx, "sleep", sleep)
        monkeypatch.setattr(ctx, "once", once)
        monkeypatch.setattr("headgate.components.subflows.current_time", lambda: now)
        return ctx

    async def test_pauses_between_rounds(self, ctx: FakeContext) -> None:
        step = Loop(value="", flow=FLOW, until="amount >= `3`", most=9, pause_seconds=60).attach(ctx)
        assert (await step.reached(), await step.timeout()) == ({"amount": 3}, NOT_TAKEN)
        assert ctx.slept == [60, 60]

    async def test_pauses_become_longer_with_the_time(self, ctx: FakeContext) -> None:
        step = Loop(value="", flow=FLOW, until="`false`", most=1000, pause_seconds=3600, timeout_hours=8760).attach(ctx)
        assert await step.timeout() == {"amount": len(ctx.flows.calls)}
        assert 300 < len(ctx.slept) < 700
        assert sum(ctx.slept) == pytest.approx(8760 * 3600)
        assert max(ctx.slept) > 80_000

    async def test_the_last_round_begins_at_the_timeout(self, ctx: FakeContext) -> None:
        step = Loop(value="", flow=FLOW, until="`false`", most=9, pause_seconds=2400, timeout_hours=1).attach(ctx)
        assert (await step.reached(), await step.timeout()) == (NOT_TAKEN, {"amount": 3})
        assert await step.rounds() == {"rounds": 3, "holds": False}
        assert ctx.slept == [2400, 1200]

    async def test_the_timeout_may_be_an_error(self, ctx: FakeContext) -> None:
        params = {"most": 9, "pause_seconds": 2400, "timeout_hours": 1, "at_limit": "fail"}
        with pytest.raises(ComponentError, match="after 3 rounds"):
            await Loop(value="", flow=FLOW, until="`false`", **params).attach(ctx).result()


class TestLoop:
    async def test_carries_the_result_to_the_next_round(self) -> None:
        ctx = context(lambda inputs: {"amount": inputs.answers.get("amount", 0) + 1})
        step = Loop(value={"amount": 1}, flow=FLOW, until="amount >= `4`", most=9).attach(ctx)
        assert (await step.result(), await step.rounds()) == ({"amount": 4}, {"rounds": 3, "holds": True})

    async def test_carries_one_member_of_the_result_and_refuses_a_result_without_it(self) -> None:
        ctx = context(lambda inputs: {"draft": f"{inputs.text}!", "score": len(inputs.text)})
        params: dict[str, Any] = {"value": "Hi", "flow": FLOW, "until": "score >= `4`", "most": 9}
        step = Loop(**params, next_value="draft").attach(ctx)
        assert (await step.result(), await step.rounds()) == (
            {"draft": "Hi!!!", "score": 4},
            {"rounds": 3, "holds": True},
        )
        with pytest.raises(ComponentError, match="no member 'text'"):
            await Loop(**params, next_value="text").attach(context(lambda _: {"score": 1})).result()

    async def test_ends_at_the_limit(self) -> None:
        step = Loop(value="a", flow=FLOW, until="`false`", most=2).attach(context())
        assert await step.rounds() == {"rounds": 2, "holds": False}

    async def test_fails_at_the_limit_if_wanted(self) -> None:
        step = Loop(value="a", flow=FLOW, until="`false`", most=2, at_limit="fail").attach(context())
        with pytest.raises(ComponentError, match="after 2 rounds"):
            await step.result()
