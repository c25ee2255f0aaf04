"""What a canvas is told of edits: the modes it switches, the proof of each change, what is a proposal."""

from dataclasses import dataclass
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.model import Flow, Node
from headgate.graph.spec import parse_spec
from headgate.sdk import Component, Data, Model, Text, field, output
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.watch import Unwatched
from headgate.toolkit.workbench import Workbench
from tests.unit.toolkit.conftest import Rows, Shout, Source, Thinker
from tests.unit.toolkit.test_tools import SPEC, call

HARMLESS = """from headgate.sdk import Component, Text, output


class Mine(Component):
    \"\"\"Say hello.\"\"\"

    @output()
    def hello(self) -> Text:
        return "hello"
"""


class Both(Component):
    """Give a text and the same as data."""

    @output()
    def message(self) -> Text:
        return "x"

    @output()
    def data(self) -> Data:
        return {"x": 1}


class Brain(Component):
    """Give a model."""

    @output()
    def model(self) -> Model:
        return Model(provider="openai", name="gpt-4o")


class Asker(Component):
    """Ask a model two things."""

    model: Model | None = field(default=None, help="The model.")
    question: Text = field(help="The question.", main=True)

    @output()
    def answer(self) -> Text:
        return self.question


@pytest.fixture
def registry() -> Registry:
    return Registry([Shout, Source, Rows, Thinker, Both, Brain, Asker])


@pytest.fixture
def bench(registry: Registry) -> Workbench:
    overlay = Overlay(registry, component_index(registry))
    return Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=Flow(), registry=overlay)


def listening(bench: Workbench) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    bench.on_action = told.append
    return told


async def connect(bench: Workbench, source: str, target: str) -> dict[str, Any]:
    (source_id, source_output), (target_id, target_input) = source.split("."), target.split(".")
    return await call(
        bench,
        "connect_components",
        source_id=source_id,
        source_output=source_output,
        target_id=target_id,
        target_input=target_input,
    )


async def holding(bench: Workbench, *types: str) -> list[dict[str, Any]]:
    for type_ in types:
        assert (await call(bench, "add_component", component_type=type_))["ok"] is True
    return listening(bench)


class TestConnecting:
    async def test_from_one_of_several_outputs_selects_it(self, bench: Workbench) -> None:
        told = await holding(bench, "Both", "Shout")
        assert (await connect(bench, "both.message", "shout.text"))["ok"] is True
        assert [action["action"] for action in told] == ["connect", "select_output"]
        assert "diff" in told[0]
        assert told[1] == {"action": "select_output", "component_id": "both", "output_name": "message"}

    async def test_from_an_only_output_selects_nothing(self, bench: Workbench) -> None:
        told = await holding(bench, "Source", "Shout")
        await connect(bench, "source.said", "shout.text")
        assert [action["action"] for action in told] == ["connect"]

    async def test_to_a_model_input_sets_its_mode_first(self, bench: Workbench) -> None:
        told = await holding(bench, "Brain", "Asker")
        assert (await connect(bench, "brain.model", "asker.model"))["ok"] is True
        assert [action["action"] for action in told] == ["set_connection_mode", "connect"]
        assert (told[0]["component_id"], told[0]["field"], told[0]["enabled"]) == ("asker", "model", True)

    @pytest.mark.parametrize("name", ["tool", "component_as_tool"])
    async def test_as_a_tool_goes_to_tools_alone(self, bench: Workbench, name: str) -> None:
        await holding(bench, "Shout", "Thinker")
        assert (await connect(bench, f"shout.{name}", "thinker.tools"))["edge"] == "shout.tool -> thinker.tools"
        refused = await connect(bench, f"shout.{name}", "thinker.question")
        assert refused["ok"] is False

    async def test_of_types_that_do_not_fit_is_refused_and_told_to_nobody(self, bench: Workbench) -> None:
        told = await holding(bench, "Rows", "Asker")
        answer = await connect(bench, "rows.rows", "asker.model")
        assert answer["ok"] is False
        assert answer["remedy"]
        assert told == []

    @pytest.mark.parametrize(
        ("source", "target", "said"),
        [
            ("sauce.said", "shout.text", "source"),
            ("source.sad", "shout.text", "said"),
            ("source.said", "shot.text", "shout"),
            ("source.said", "shout.txt", "text"),
        ],
    )
    async def test_names_the_nearest(self, bench: Workbench, source: str, target: str, said: str) -> None:
        await holding(bench, "Source", "Shout")
        answer = await connect(bench, source, target)
        assert f"'{said}'" in answer["error"]


class TestProof:
    async def test_stands_on_the_action_that_makes_the_change(self, bench: Workbench) -> None:
        told = await holding(bench, "Brain", "Asker")
        await connect(bench, "brain.model", "asker.model")
        assert "diff" not in told[0]
        assert told[1]["diff"] == ["+ edge brain.model -> asker.model"]
        assert told[1]["validation"]["runnable"] is False
        assert told[1]["validation"]["issues"][0]["field"] == "question"

    async def test_tells_of_edges_that_went_with_a_node(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        told = listening(bench)
        await call(bench, "remove_component", node_id="shout")
        assert told[0]["diff"] == ["- node 'shout' (Shout)", "- edge source.said -> shout.text"]

    async def test_hides_secrets(self, bench: Workbench) -> None:
        told = await holding(bench, "Shout")
        for key in ("sk-old-0123456789", "sk-new-0123456789"):
            await call(bench, "configure_component", node_id="shout", params={"text": f"a {key}"})
        assert [line for action in told for line in action["diff"] if "0123456789" in line] == []
        assert len(told[1]["diff"]) == 1

    async def test_is_none_for_what_changes_nothing(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        told = listening(bench)
        answer = await call(bench, "configure_component", node_id="source", params={"text": "hi"})
        assert answer["ok"] is True
        assert "Nothing changed" in answer["note"]
        await call(bench, "rename_component", node_id="source", new_id="source")
        assert told == []


class TestWholeFlows:
    async def test_are_proposals(self, bench: Workbench) -> None:
        told = listening(bench)
        await call(bench, "build_flow", spec=SPEC)
        assert bench.pending
        assert "auto_apply" not in told[0]
        assert "replaces" not in told[0]

    async def test_on_a_canvas_that_holds_one_say_what_they_replace(self, bench: Workbench) -> None:
        bench = Workbench(
            principal=LOCAL,
            space_id=LOCAL.space_id,
            flow=Flow(nodes=(Node(id="old", type="Source"),)),
            registry=bench.registry,
        )
        told = listening(bench)
        answer = await call(bench, "build_flow", spec=SPEC)
        assert "proposal to replace" in answer["note"]
        assert told[0]["replaces"] == ["old"]
        assert bench.pending

    async def test_with_loose_nodes_are_refused_and_counted(self, bench: Workbench) -> None:
        class Watch(Unwatched):
            loose: list[str]

            def orphan_rejected(self, node_ids: list[str]) -> None:
                self.loose = node_ids

        bench.watch = watch = Watch()
        told = listening(bench)
        answer = await call(bench, "build_flow", spec=SPEC.replace("edges:", "  rows: Rows\nedges:"))
        assert answer["ok"] is False
        assert (watch.loose, told) == (["rows"], [])

    async def test_are_gone_back_from_as_what_the_canvas_shows_already(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        told = listening(bench)
        await call(bench, "undo")
        assert (told[0]["undo"], told[0]["auto_apply"], bench.pending) == (True, True, False)

    async def test_stay_proposals_when_a_later_edit_is_taken_back(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        await call(bench, "configure_component", node_id="source", params={"text": "ho"})
        told = listening(bench)
        await call(bench, "undo")
        assert "auto_apply" not in told[0]
        assert bench.pending


@dataclass
class Runner:
    """Runs that end well."""

    ran: Flow | None = None

    async def run(self, flow: Flow, *, text: str, form: Any, file_ids: Any = (), outside: Any = ()) -> RunOutcome:
        self.ran = flow
        return RunOutcome("run-1", "completed", {}, [], duration_ms=250, input_tokens=5, output_tokens=2)


class TestRunning:
    async def test_answers_with_what_it_took_and_used(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        bench.runner = Runner()
        answer = await call(bench, "run_flow")
        assert (answer["run_id"], answer["duration_seconds"]) == ("run-1", 0.25)
        assert (answer["input_tokens"], answer["output_tokens"], answer["total_tokens"]) == (5, 2, 7)

    async def test_sees_the_flow_that_was_just_built(self, bench: Workbench) -> None:
        bench.runner = runner = Runner()
        await call(bench, "build_flow", spec=SPEC)
        await call(bench, "run_flow")
        assert runner.ran == bench.flow

    async def test_tells_that_the_flow_is_no_proposal_now(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        bench.runner = Runner()
        told = listening(bench)
        await call(bench, "run_flow")
        assert [(action["action"], action["run_id"]) for action in told] == [("flow_ran", "run-1")]
        assert not bench.pending

    async def test_says_that_proposed_edits_are_not_in_it(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        await call(bench, "propose_field_edit", node_id="source", field="text", new_value="ho")
        bench.runner = Runner()
        assert "1 proposed edits" in (await call(bench, "run_flow"))["note"]

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            ("import os\nos.system('true')\n", "unsafe component code detected"),
            (HARMLESS, "was never checked here"),
        ],
    )
    async def test_refuses_code_that_nobody_checked(self, bench: Workbench, code: str, said: str) -> None:
        flow = parse_spec(SPEC)
        strange = flow.nodes[1].model_copy(update={"type": "Mine", "code": code})
        bench = Workbench(
            principal=LOCAL,
            space_id=LOCAL.space_id,
            flow=flow.model_copy(update={"nodes": (flow.nodes[0], strange)}),
            registry=bench.registry,
            runner=(runner := Runner()),
        )
        answer = await call(bench, "run_flow")
        assert answer["ok"] is False
        assert answer["error"].startswith("Refused to run: ")
        assert said in answer["error"]
        assert "'shout'" in answer["error"]
        assert runner.ran is None


class TestReading:
    async def test_gives_every_value_of_a_node_without_its_secrets(self, bench: Workbench) -> None:
        await call(bench, "add_component", component_type="Shout", params={"text": "a sk-123456789012"})
        answer = await call(bench, "get_field_value", node_id="shout")
        assert answer["values"]["text"] == "a [redacted]"
        assert "sk-" not in str(answer)

    async def test_lists_the_types_when_nothing_is_asked(self, bench: Workbench) -> None:
        assert "Shout" in (await call(bench, "search_components"))["types"]
