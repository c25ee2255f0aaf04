"""What `complete` reports, read back from the working flow."""

from typing import Any

from headgate.agents.assistant.loop.loop import run_loop
from headgate.agents.assistant.turn.usage import Budget
from headgate.agents.assistant.verification.claims import NOTHING_CHANGED
from headgate.agents.assistant.verification.report import report
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from headgate.toolkit.ports import RunOutcome
from tests.support.scripted_model import ScriptedModel, calls, says
from tests.unit.agents.assistant.loop.test_loop import SPEC, turn_on

EDGE = {"source_id": "heard", "source_output": "text", "target_id": "said", "target_input": "input"}


class Runs:
    """A runner whose runs come to what they are told to."""

    def __init__(self, *statuses: str, error: str = "step 'said' failed: it broke") -> None:
        self.statuses, self.error = list(statuses), error

    async def run(self, flow: Flow, *, text: str, form: Any, file_ids: Any = (), outside: Any = ()) -> RunOutcome:
        status = self.statuses.pop(0)
        error = "" if status == "completed" else self.error
        number = f"run{len(self.statuses)}"
        return RunOutcome(number, status, {}, [], error=error, duration_ms=1500, input_tokens=7, output_tokens=3)


async def reported(script: list[Any], *, flow: Flow | None = None, runs: Runs | None = None, **options: Any) -> Any:
    turn, _ = turn_on(flow or Flow(), **options)
    turn.bench.runner = runs
    return report(turn, await run_loop(ScriptedModel(script=script), turn)), turn


class TestReport:
    async def test_gives_each_edit_its_diff_and_its_validation(self) -> None:
        found, _ = await reported(
            [
                calls("add_component", component_type="ChatInput", node_id="heard"),
                calls("add_component", component_type="ChatOutput", node_id="said"),
                calls(
                    "connect_components",
                    source_id="heard",
                    source_output="text",
                    target_id="said",
                    target_input="input",
                ),
                says("There it is."),
            ]
        )
        assert [edit["action"] for edit in found["edits"]] == ["add_component", "add_component", "connect"]
        first, _, last = found["edits"]
        assert first["diff"] == ["+ node 'heard' (ChatInput)"]
        assert first["node"] == {"id": "heard", "type": "ChatInput"}
        assert last["diff"] == ["+ edge heard.text -> said.input"]
        assert last["validation"] == {"runnable": True, "issues": []}
        assert found["changes"] == [
            "+ node 'heard' (ChatInput)",
            "+ node 'said' (ChatOutput)",
            "+ edge heard.text -> said.input",
        ]
        assert found["done"] == ["3 changes made."]
        assert found["proposal"] is False

    async def test_says_what_keeps_an_edit_from_running(self) -> None:
        found, _ = await reported([calls("add_component", component_type="AIStep"), says("Added.")])
        validation = found["edits"][0]["validation"]
        assert validation["runnable"] is False
        assert validation["issues"][0]["code"] == "missing_value"

    async def test_names_the_run_that_an_edit_was_in(self) -> None:
        found, turn = await reported(
            [
                calls("build_flow", spec=SPEC),
                calls("run_flow", text="hi"),
                calls("rename_component", node_id="said", new_id="told"),
                says("Ran."),
            ],
            runs=Runs("completed"),
        )
        assert [edit.get("run_id") for edit in found["edits"]] == ["run0", None]
        assert found["runs"] == [
            {
                "run_id": "run0",
                "status": "completed",
                "error": "",
                "duration_seconds": 1.5,
                "input_tokens": 7,
                "output_tokens": 3,
                "total_tokens": 10,
            }
        ]
        assert found["usage_by_phase"]["run"]["total_tokens"] == 10
        assert turn.usage.total == found["usage_by_phase"]["main"]["total_tokens"] + 10
        assert found["proposal"] is False

    async def test_lets_no_run_speak_for_what_was_taken_back_before_it(self) -> None:
        found, _ = await reported(
            [
                calls("build_flow", spec=SPEC),
                calls("add_component", component_type="Note", node_id="memo"),
                calls("undo"),
                calls("run_flow", text="hi"),
                says("Ran."),
            ],
            runs=Runs("completed"),
        )
        built, added, undone = found["edits"]
        assert (built["run_id"], "undone" in built) == ("run0", False)
        assert ("run_id" in added, added["undone"]) == (False, True)
        assert undone["run_id"] == "run0"
        assert undone["diff"] == ["- node 'memo' (Note)"]

    async def test_calls_a_whole_flow_a_proposal(self) -> None:
        found, _ = await reported([calls("build_flow", spec=SPEC), says("Built.")])
        assert found["proposal"] is True
        assert found["done"] == ["4 changes proposed as a new flow."]

    async def test_keeps_proposals_apart_from_changes(self) -> None:
        found, _ = await reported(
            [
                calls("propose_field_edit", node_id="heard", field="nothing", new_value="x"),
                calls("propose_field_edit", node_id="heard", field="text", new_value="Hello there"),
                says("Shall I?"),
            ],
            flow=parse_spec(SPEC),
        )
        assert found["changes"] == []
        [proposed] = found["proposals"]
        assert (proposed["component_id"], proposed["field"]) == ("heard", "text")
        assert proposed["diff"] == ["~ node 'heard' params.text set to \"Hello there\""]
        assert proposed["validation"]["runnable"] is True
        assert found["note"] == ""

    async def test_notes_a_claim_that_the_flow_does_not_show(self) -> None:
        found, _ = await reported([says("I've added a memory component.")], flow=parse_spec(SPEC))
        assert found["note"] == NOTHING_CHANGED
        assert found["edits"] == []

    async def test_reports_what_was_done_before_the_budget_was_spent(self) -> None:
        script: list[Any] = [calls("build_flow", spec=SPEC), calls("describe_flow_io")]
        found, _ = await reported(script, budget=Budget(tool_calls=1))
        assert found["stopped"] == "budget"
        assert "after 1 tool call." in found["stop_note"]
        assert len(found["changes"]) == 4
