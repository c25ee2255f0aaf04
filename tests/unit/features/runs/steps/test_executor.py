"""One step: what it is given, what it makes, how it fails."""

import asyncio
from typing import Any, cast

import orjson
import pytest
from pydantic import JsonValue

from headgate.features.runs.errors import StepTimeout
from headgate.foundation.errors import Cancelled, Invalid, NotFound
from headgate.foundation.settings import EngineSettings
from headgate.graph.model import Node, StepPolicy
from headgate.sdk import Component, Data, Message, Model, RunInput, Table, Text, Tool, field, output
from headgate.sdk.coerce import ValueMismatch
from tests.support.engine import COMPONENTS, make_flow
from tests.support.steps import KEY, make_bench


class Show(Component):
    """Gives back what it was given, as data."""

    value: Data = field(default=None, main=True)
    table: Table | None = field(default=None)
    message: Message | None = field(default=None)
    note: str = field(default="", port=False)
    numbers: list[JsonValue] = field(default_factory=list, port=False)
    raw: str = field(default="", port=False, interpolate=False)

    @output()
    def data(self) -> Data:
        return {
            "value": self.value,
            "table": cast("JsonValue", self.table.records()) if self.table else None,
            "message": self.message.text if self.message else None,
            "note": self.note,
            "numbers": self.numbers,
            "raw": self.raw,
        }


class Change(Component):
    """Changes what it was given."""

    value: Data = field(main=True)

    @output()
    def data(self) -> Data:
        assert isinstance(self.value, dict)
        self.value["changed"] = True
        return self.value


class Greet(Component):
    """Greets somebody."""

    name: str = field(tool_mode=True)
    greeting: str = field(default="Hello", port=False)

    @output()
    def text(self) -> Text:
        return f"{self.greeting}, {self.name}!"


class Chosen(Component):
    """Gives a model."""

    name: str = field(default="small", port=False)

    @output()
    def model(self) -> Model:
        return Model(provider="test", name=self.name)

    @output()
    def text(self) -> Text:
        return self.name


class Boss(Component):
    """Has a model and tools."""

    task: str = field(main=True)
    model: Model | None = field(default=None)
    tools: list[Tool] = field(default_factory=list, many=True)

    @output()
    async def data(self) -> Data:
        answers = {tool.name: await tool.call({"name": self.task}) for tool in self.tools}
        return {"model": str(self.model), "answers": answers, "about": [tool.description for tool in self.tools]}


class Team(Component):
    """Has tools and is one."""

    name: str = field(default="", tool_mode=True)
    tools: list[Tool] = field(default_factory=list, many=True)

    @output()
    def data(self) -> Data:
        return [tool.name for tool in self.tools]


class Lies(Component):
    """Says it gives text."""

    @output()
    def text(self) -> Text:
        return 5  # type: ignore[return-value]


class Late(Component):
    """Raises a timeout of its own."""

    @output()
    async def text(self) -> Text:
        raise TimeoutError("the other side")


class Reads(Component):
    """Reads a file by its id."""

    file: Data = field(default=None, port=False)

    @output()
    async def text(self) -> Text:
        return (await self.ctx.files.read(self.ctx.input.files[0])).decode()


class Calls(Component):
    """Calls a model."""

    @output()
    async def text(self) -> Text:
        await self.ctx.chat_model(Model(provider="a", name="b"))
        return ""


ALL: tuple[type[Component], ...] = (*COMPONENTS, Show, Change, Greet, Chosen, Boss, Lies, Late, Reads, Calls)


def value(executed: Any, name: str = "data") -> Any:
    return executed.outputs[name]


class TestInputs:
    async def test_cross_edges_with_coercion(self) -> None:
        flow = make_flow(
            {"rows": "Show", "show": "Show"},
            ["rows.data -> show.value", "rows.data -> show.table", "rows.data -> show.message"],
        )
        rows: dict[str, JsonValue] = {"data": [{"a": 1}]}
        found = value(await make_bench(ALL).execute(flow, "show", {"rows": rows}))
        assert found["value"] == [{"a": 1}]
        assert found["table"] == [{"a": 1}]
        assert '"a": 1' in found["message"]

    async def test_that_cannot_be_coerced_say_why(self) -> None:
        flow = make_flow({"rows": "Show", "show": "Show"}, ["rows.data -> show.table"])
        with pytest.raises(ValueMismatch, match="list of objects"):
            await make_bench(ALL).execute(flow, "show", {"rows": {"data": "text"}})

    async def test_keep_native_values_of_whole_references(self) -> None:
        flow = make_flow(
            {"rows": "Show", "show": "Show"},
            ["rows.data -> show.value"],
            show={
                "note": "n={{rows.data.n}} {{flow_input.text}} {{missing.output}}",
                "numbers": ["{{rows.data.n}}", "{{step_1.output.list}}"],
                "raw": "{{rows.data.n}}",
            },
        )
        bench = make_bench(ALL)
        found = value(
            await bench.execute(flow, "show", {"rows": {"data": {"n": 7, "list": [1]}}}, RunInput(text="hej"))
        )
        assert found["note"] == "n=7 hej {{missing.output}}"
        assert found["numbers"] == [7, [1]]
        assert found["raw"] == "{{rows.data.n}}"

    async def test_are_the_steps_own_to_change(self) -> None:
        flow = make_flow({"rows": "Show", "change": "Change"}, ["rows.data -> change.value"])
        given: dict[str, JsonValue] = {"a": 1}
        assert value(await make_bench(ALL).execute(flow, "change", {"rows": {"data": given}}))["changed"] is True
        assert given == {"a": 1}

    async def test_that_are_missing_name_the_field(self) -> None:
        flow = make_flow({"start": "Start", "echo": "Echo"}, ["start.text -> echo.input"])
        with pytest.raises(Invalid, match="echo \\(Echo\\): field 'input' is empty"):
            await make_bench(ALL).execute(flow, "echo", {"start": {}})


class TestAttachments:
    async def test_give_models_and_tools(self) -> None:
        flow = make_flow(
            {"start": "Start", "model": "Chosen", "greet": "Greet", "boss": "Boss"},
            ["start.text -> boss.task", "model.model -> boss.model", "greet.tool -> boss.tools"],
            model={"name": "{{start.text}}"},
            greet={"greeting": "Hej"},
        )
        found = value(await make_bench(ALL).execute(flow, "boss", {"start": {"text": "Anna"}}))
        assert found == {"model": "test/Anna", "answers": {"greet": "Hej, Anna!"}, "about": ["Greets somebody."]}

    async def test_of_one_type_go_by_their_node_ids_and_labels(self) -> None:
        first = Node(id="kind", type="Greet", label="Kind", params={"greeting": "Dear"})
        second = Node(id="curt", type="Greet", params={"greeting": "Oi"})
        flow = make_flow(
            {"start": "Start", "kind": first, "curt": second, "boss": "Boss"},
            ["start.text -> boss.task", "kind.tool -> boss.tools", "curt.tool -> boss.tools"],
        )
        found = value(await make_bench(ALL).execute(flow, "boss", {"start": {"text": "Bo"}}))
        assert found["answers"] == {"kind": "Dear, Bo!", "curt": "Oi, Bo!"}
        assert found["about"] == ["Kind. Greets somebody.", "Greets somebody."]

    async def test_are_restricted_to_the_tools_on_the_list(self) -> None:
        policy = StepPolicy(tool_policy="restricted", tool_allowlist=("curt",))
        flow = make_flow(
            {"start": "Start", "kind": "Greet", "curt": "Greet", "boss": Node(id="boss", type="Boss", policy=policy)},
            ["start.text -> boss.task", "kind.tool -> boss.tools", "curt.tool -> boss.tools"],
        )
        found = value(await make_bench(ALL).execute(flow, "boss", {"start": {"text": "Bo"}}))
        assert list(found["answers"]) == ["curt"]

    async def test_are_restricted_among_the_tools_of_tools_too(self) -> None:
        policy = StepPolicy(tool_policy="restricted", tool_allowlist=("team",))
        boss = Node(id="boss", type="Boss", policy=policy)
        nodes: dict[str, str | Node] = {"start": "Start", "greet": "Greet", "team": "Team", "boss": boss}
        edges = ["start.text -> boss.task", "team.tool -> boss.tools", "greet.tool -> team.tools"]
        flow = make_flow(nodes, edges)
        found = value(await make_bench((*ALL, Team)).execute(flow, "boss", {"start": {"text": "Bo"}}))
        assert found["answers"] == {"team": []}


class TestOutputs:
    async def test_of_another_type_than_declared_are_refused(self) -> None:
        with pytest.raises(ValueMismatch, match="Text"):
            await make_bench(ALL).execute(make_flow({"lies": "Lies"}), "lies")

    async def test_are_only_those_that_somebody_takes(self) -> None:
        flow = make_flow(
            {"s": "Start", "say": "Speak", "end": "Join"}, ["s.text -> say.input", "say.text -> end.parts"]
        )
        found = await make_bench(ALL).execute(flow, "say", {"s": {"text": "x"}})
        assert set(found.outputs) == {"text"}


class TestLimits:
    async def test_end_a_step_that_waits_too_long(self) -> None:
        bench = make_bench(ALL, engine=EngineSettings(step_timeout_seconds=0.02))
        flow = make_flow({"gate": "Gate"}, gate={"folder": "/tmp", "name": "never-opened"})
        with pytest.raises(StepTimeout, match=r"'gate' took longer than 0\.02 seconds"):
            await bench.execute(flow, "gate")

    async def test_leave_a_timeout_of_the_components_own_alone(self) -> None:
        with pytest.raises(TimeoutError, match="the other side"):
            await make_bench(ALL).execute(make_flow({"late": "Late"}), "late")

    async def test_call_no_model_for_a_cancelled_run(self) -> None:
        bench = make_bench(ALL)
        bench.cancelled = True
        with pytest.raises(Cancelled):
            await bench.execute(make_flow({"calls": "Calls"}), "calls")


class TestFiles:
    async def test_are_read_within_the_tenant_only(self) -> None:
        bench = make_bench(ALL)
        mine = bench.files.add("a.txt", b"mine", tenant_id=KEY.tenant_id)
        theirs = bench.files.add("b.txt", b"theirs", tenant_id="other")
        flow = make_flow({"reads": "Reads"})
        found = await bench.execute(flow, "reads", given=RunInput(files=(mine,)))
        assert value(found, "text") == "mine"
        with pytest.raises(NotFound):
            await bench.execute(flow, "reads", given=RunInput(files=(theirs,)))

    async def test_that_a_step_saves_are_listed_with_it(self) -> None:
        bench = make_bench(ALL)
        flow = make_flow({"s": "Start", "keep": "Keep"}, ["s.text -> keep.input"])
        found = await bench.execute(flow, "keep", {"s": {"text": "content"}})
        payload = orjson.loads(found.record.output_payload or "")
        assert payload["generated_file_ids"] == payload["file_ids"]
        assert bench.files.origins[payload["file_ids"][0]].step_id == "keep"


class TestExecutionHash:
    async def hash_of(self, text: str = "x", mark: str = "", label: str = "", run_text: str = "") -> str | None:
        node = Node(id="echo", type="Echo", label=label, params={"mark": mark})
        flow = make_flow({"s": "Start", "echo": node}, ["s.text -> echo.input"])
        found = await make_bench(ALL).execute(flow, "echo", {"s": {"text": text}}, RunInput(text=run_text))
        return found.record.execution_hash

    async def test_is_the_same_for_the_same_work(self) -> None:
        assert await self.hash_of() == await self.hash_of()
        assert await self.hash_of(label="Nice name") == await self.hash_of()

    async def test_changes_with_params_and_with_any_input(self) -> None:
        found = [await self.hash_of(), await self.hash_of(text="y"), await self.hash_of(mark="!")]
        assert len(set(found)) == 3

    async def test_covers_the_input_of_the_run_exactly_where_the_step_looked_at_it(self) -> None:
        assert await self.hash_of(run_text="z") == await self.hash_of()
        named = {"mark": "{{flow_input.text}}"}
        assert await self.hash_of(mark=named["mark"], run_text="z") != await self.hash_of(mark=named["mark"])
        flow = make_flow({"s": "Start"})
        looked = [await make_bench(ALL).execute(flow, "s", given=RunInput(text=text)) for text in "ab"]
        assert looked[0].record.execution_hash != looked[1].record.execution_hash

    async def test_does_not_depend_on_the_order_of_members(self) -> None:
        flow = make_flow({"rows": "Show", "show": "Show"}, ["rows.data -> show.value"])
        orders: list[dict[str, JsonValue]] = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
        found = [
            (await make_bench(ALL).execute(flow, "show", {"rows": {"data": data}})).record.execution_hash
            for data in orders
        ]
        assert found[0] == found[1]


async def test_a_cancelled_task_is_not_a_failed_step() -> None:
    flow = make_flow({"gate": "Gate"}, gate={"folder": "/tmp", "name": "never-opened-either"})
    task = asyncio.create_task(make_bench(ALL).execute(flow, "gate"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
