"""Calls that repeat, and calls that go round in circles."""

from typing import Any

import pytest

from headgate.graph.model import Flow
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.repeats import STUCK_AFTER
from headgate.toolkit.workbench import Workbench

BY_NAME = {tool.name: tool for tool in TOOLS}


async def call(bench: Workbench, tool: str, **arguments: Any) -> dict[str, Any]:
    return await BY_NAME[tool].call(bench, arguments)


class TestRepeatedCalls:
    async def test_get_the_first_answer_and_then_a_refusal(self, bench: Workbench) -> None:
        first = await call(bench, "describe_flow_io")
        second = await call(bench, "describe_flow_io")
        assert second == first | {"note": second["note"]}
        assert "nothing has changed" in second["note"]
        third = await call(bench, "describe_flow_io")
        assert (third["ok"], third["code"]) == (False, "repeated_call")
        assert "Stop" in third["remedy"]

    async def test_are_noticed_when_they_were_refused_too(self, bench: Workbench) -> None:
        answers = [await call(bench, "remove_component", node_id="nobody") for _ in range(3)]
        assert [answer["code"] for answer in answers] == ["tool_refused", "tool_refused", "repeated_call"]

    async def test_are_new_calls_once_something_changed(self, bench: Workbench) -> None:
        for _ in range(5):
            assert "note" not in await call(bench, "describe_flow_io")
            assert (await call(bench, "add_component", component_type="Source"))["ok"] is True
        assert len(bench.flow.nodes) == 5

    async def test_are_new_calls_with_other_arguments(self, bench: Workbench) -> None:
        for query in ("loud", "rows", "text", "agent"):
            assert "note" not in await call(bench, "search_components", query=query)

    async def test_of_a_run_are_carried_out_twice(self, bench: Workbench) -> None:
        class Runner:
            runs = 0

            async def run(
                self, flow: Flow, *, text: str, form: Any, file_ids: Any = (), outside: Any = ()
            ) -> RunOutcome:
                self.runs += 1
                return RunOutcome(f"r{self.runs}", "failed", {}, [], error="it broke")

        await call(bench, "add_component", component_type="Source")
        bench.runner = runner = Runner()
        answers = [await call(bench, "run_flow") for _ in range(3)]
        assert [answer.get("run_id") for answer in answers] == ["r1", "r2", None]
        assert runner.runs == 2

    async def test_say_when_a_caller_is_stuck(self, bench: Workbench) -> None:
        for _ in range(2 + STUCK_AFTER):
            assert not bench.calls.stuck
            await call(bench, "describe_flow_io")
        assert bench.calls.stuck
        await call(bench, "add_component", component_type="Source")
        assert not bench.calls.stuck


class TestCallsInTurns:
    async def test_are_refused_in_their_third_round(self, bench: Workbench) -> None:
        await call(bench, "add_component", component_type="Source")
        answers = []
        for _ in range(3):
            answers.append(await call(bench, "configure_component", node_id="source", params={"text": "a"}))
            answers.append(await call(bench, "configure_component", node_id="source", params={"text": "b"}))
        assert [answer["ok"] for answer in answers] == [True] * 5 + [False]
        assert "in turns" in answers[-1]["error"]

    @pytest.mark.parametrize("rounds", [1, 2])
    async def test_are_carried_out_before_that(self, bench: Workbench, rounds: int) -> None:
        for _ in range(rounds):
            assert (await call(bench, "add_component", component_type="Source", node_id="s"))["ok"] is True
            assert (await call(bench, "remove_component", node_id="s"))["ok"] is True
