"""The same for every item."""

import asyncio
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.components.ai import AIStep
from headgate.components.calculator import Calculator
from headgate.components.items import filled_template
from headgate.components.mapping import Map
from headgate.foundation.errors import Cancelled, UpstreamFailed
from headgate.sdk import ComponentError, Table, Tool
from headgate.sdk.testing import StepHarness
from headgate.sdk.tools import tool_of
from headgate.sdk.waiting import StepWaits
from tests.support.scripted_model import ScriptedModel, says

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text"],
}


def tool(call: Any) -> Tool:
    return Tool(name="do", description="", parameters=SCHEMA, call=call)


async def echo(arguments: dict[str, JsonValue]) -> JsonValue:
    return dict(arguments)


class TestMap:
    async def test_calls_a_component_on_each_item(self) -> None:
        harness = StepHarness()
        calculator = tool_of(Calculator, {}, harness.ctx)
        outputs = await harness.run(Map, {"items": [1, 2, 3], "each": calculator, "template": "{item} * 2 + {index}"})
        assert outputs["results"] == [2, 5, 8]
        assert outputs["table"] == Table(columns=["result"], rows=[[2], [5], [8]])
        assert outputs["text"] == "2\n\n5\n\n8"
        assert harness.ctx.tool_calls[0] == ("calculator", {"expression": "1 * 2 + 0"}, 2)
        assert harness.ctx.tokens == ["1 of 3\n", "2 of 3\n", "3 of 3\n"]

    async def test_streams_its_progress_and_not_the_words_of_a_model(self) -> None:
        harness = StepHarness(chat_model=ScriptedModel(script=[says("one two"), says("three")]))
        asks = tool_of(AIStep, {"prompt": "Translate.", "model": "openai/x"}, harness.ctx)
        outputs = await harness.run(Map, {"items": ["a", "b"], "each": asks, "concurrency": 1})
        assert outputs["results"] == ["one two ", "three "]
        assert harness.ctx.tokens == ["1 of 2\n", "2 of 2\n"]
        assert [prompt for prompt in harness.ctx.prompts if "<input>\na\n</input>" in prompt]

    @pytest.mark.parametrize(
        ("item", "result", "kept"),
        [
            ({"id": 1}, {"kind": "a"}, {"id": 1, "kind": "a"}),
            ({"id": 1}, "a", {"id": 1, "result": "a"}),
            ("x", {"kind": "a"}, {"item": "x", "kind": "a"}),
        ],
    )
    async def test_keeps_the_fields_of_the_item(self, item: JsonValue, result: JsonValue, kept: JsonValue) -> None:
        async def answer(_arguments: dict[str, JsonValue]) -> JsonValue:
            return result

        values = {"items": [item], "each": tool(answer), "argument": "text", "with_item": True}
        assert (await StepHarness().run(Map, values))["results"] == [kept]

    async def test_fills_a_template_alone(self) -> None:
        rows = Table(columns=["name"], rows=[["Ann"], ["Bo"]])
        outputs = await StepHarness().run(Map, {"items": rows, "template": "{index}: {item.name}"})
        assert outputs["results"] == ["0: Ann", "1: Bo"]

    @pytest.mark.parametrize(
        ("item", "argument", "arguments"),
        [
            ("a", "", {"text": "a"}),
            (5, "", {"text": "5"}),
            (5, "n", {"n": 5}),
            ({"text": "t", "n": 1, "other": 2}, "", {"text": "t", "n": 1}),
            ({"text": "t"}, "text", {"text": '{\n  "text": "t"\n}'}),
        ],
    )
    async def test_hands_the_item_to_the_right_argument(
        self, item: JsonValue, argument: str, arguments: dict[str, JsonValue]
    ) -> None:
        outputs = await StepHarness().run(Map, {"items": [item], "each": tool(echo), "argument": argument})
        assert outputs["results"] == [arguments]

    async def test_keeps_the_order_and_bounds_what_runs_at_once(self) -> None:
        running = most = 0

        async def slow(arguments: dict[str, JsonValue]) -> JsonValue:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.02 if arguments["text"] == "0" else 0.001)
            running -= 1
            return arguments["text"]

        outputs = await StepHarness().run(
            Map, {"items": list(range(20)), "each": tool(slow), "concurrency": 3}, outputs=["results"]
        )
        assert outputs["results"] == [str(number) for number in range(20)]
        assert most == 3

    @pytest.mark.parametrize(("on_error", "results"), [("skip", ["a", "c"]), ("keep", ["a", {"error": "no b"}, "c"])])
    async def test_goes_on_when_told(self, on_error: str, results: list[JsonValue]) -> None:
        async def picky(arguments: dict[str, JsonValue]) -> JsonValue:
            if arguments["text"] == "b":
                raise UpstreamFailed("no b")
            return arguments["text"]

        harness = StepHarness()
        values = {"items": ["a", "b", "c"], "each": tool(picky), "on_error": on_error}
        assert (await harness.run(Map, values, outputs=["results"]))["results"] == results
        assert harness.ctx.logs == ["Item 1 failed: no b"]
        values["on_error"] = "stop"
        with pytest.raises(ComponentError, match=r"item 1 \(counted from 0\): no b") as caught:
            await harness.run(Map, values)
        assert caught.value.extra == {"index": 1}

    async def test_lists_failed_items(self) -> None:
        async def picky(arguments: dict[str, JsonValue]) -> JsonValue:
            raise UpstreamFailed(f"no {arguments['text']}", remedy="Ask again.")

        values = {"items": "a\n\nb", "each": tool(picky), "on_error": "skip"}
        outputs = await StepHarness().run(Map, values, outputs=["errors", "results", "text"])
        assert outputs["errors"] == [
            {"index": 0, "item": "a", "error": "no a", "code": "upstream_failed"},
            {"index": 1, "item": "b", "error": "no b", "code": "upstream_failed"},
        ]
        assert (outputs["results"], outputs["text"]) == ([], "")

    @pytest.mark.parametrize(("attempts", "results"), [(2, [{"error": "bad"}, "b"]), (3, ["a", "b"])])
    async def test_a_failed_item_has_attempts_of_its_own(self, attempts: int, results: list[JsonValue]) -> None:
        calls: list[JsonValue] = []

        async def shaky(arguments: dict[str, JsonValue]) -> JsonValue:
            calls.append(arguments["text"])
            if arguments["text"] == "a" and calls.count("a") < 3:
                raise UpstreamFailed("bad")
            return arguments["text"]

        values = {"items": ["a", "b"], "each": tool(shaky), "attempts": attempts, "on_error": "keep"}
        assert (await StepHarness().run(Map, values, outputs=["results"]))["results"] == results
        assert sorted(map(str, calls)) == ["a"] * attempts + ["b"]

    async def test_a_long_list_ends_its_attempt_between_two_items(self) -> None:
        harness = StepHarness()
        harness.ctx.turn = 3
        with pytest.raises(StepWaits):
            await harness.run(Map, {"items": list(range(9)), "each": tool(echo), "concurrency": 1})
        assert len(harness.ctx.tool_calls) == 3
        harness.ctx.turn = 9
        harness.ctx.tool_calls.clear()
        values = {"items": list(range(9)), "each": tool(echo), "concurrency": 1}
        assert len((await harness.run(Map, values, outputs=["results"]))["results"]) == 9

    async def test_a_failure_ends_the_others(self) -> None:
        finished: list[object] = []

        async def call(arguments: dict[str, JsonValue]) -> JsonValue:
            if arguments["text"] == "0":
                raise UpstreamFailed("first")
            await asyncio.sleep(5)
            finished.append(arguments)
            return None

        with pytest.raises(ComponentError, match="first"):
            await StepHarness().run(Map, {"items": [0, 1, 2], "each": tool(call)})
        assert finished == []

    async def test_a_bug_in_a_tool_is_not_wrapped(self) -> None:
        async def broken(_arguments: dict[str, JsonValue]) -> JsonValue:
            raise ZeroDivisionError("bug")

        with pytest.raises(ZeroDivisionError, match="bug"):
            await StepHarness().run(Map, {"items": [1], "each": tool(broken)})

    async def test_stops_when_cancelled(self) -> None:
        harness = StepHarness()
        calls: list[object] = []

        async def cancelling(arguments: dict[str, JsonValue]) -> JsonValue:
            calls.append(arguments)
            harness.ctx.cancelled = True
            return None

        with pytest.raises(Cancelled):
            await harness.run(
                Map, {"items": list(range(50)), "each": tool(cancelling), "concurrency": 1, "on_error": "skip"}
            )
        assert len(calls) == 1

    async def test_runs_nothing_on_nothing(self) -> None:
        outputs = await StepHarness().run(Map, {"items": [], "each": tool(echo)})
        assert outputs == {"results": [], "table": Table(columns=[]), "text": "", "errors": []}

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"items": [1]}, "Map: no component or template is set for the items"),
            ({"items": {"a": 1}, "template": "x"}, "items is an object, not a list"),
            ({"items": [1] * 10_001, "template": "x"}, "10001 items; the limit is 10000"),
            ({"items": [1], "each": tool(echo), "argument": "txt"}, "do has no argument 'txt'; did you mean 'text'?"),
        ],
    )
    async def test_says_what_is_missing(self, values: dict[str, Any], words: str) -> None:
        with pytest.raises(ComponentError) as caught:
            await StepHarness().run(Map, values)
        assert words in str(caught.value)


class TestFilledTemplate:
    @pytest.mark.parametrize(
        ("template", "text"),
        [
            ("{item.a.b[1]}", "y"),
            ("{item.gone}", ""),
            ("{index}/{index.x}", "7/{index.x}"),
            ("{{item}} {items} {item.a-b}", "{{item}} {items} {item.a-b}"),
            ("{item.a}", '{\n  "b": [\n    "x",\n    "y"\n  ]\n}'),
        ],
    )
    def test_fills_paths(self, template: str, text: str) -> None:
        assert filled_template(template, 7, {"a": {"b": ["x", "y"]}}, subject="Map") == text
