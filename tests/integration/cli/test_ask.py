"""`headgate ask` against a model that speaks OpenAI's protocol: plans, proposed edits, and what it ends with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from headgate.agents.assistant.intent import framing
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import DECLINED, FAILED, OK, WAITING
from tests.integration.agents.assistant.scenarios.model import Model, read_by, speaking
from tests.integration.agents.assistant.scenarios.script import Answer, Intent, components
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]
FLOW = "name: Fixed\nnodes:\n  ask: TextInput\n    text: old\n  out: ChatOutput\nedges:\n  ask.text -> out.input\n"
MODEL = ("--model", "openai/gpt-5-mini")


@pytest.fixture
def model(data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Model]:
    (data_folder / "fixed.flow").write_text(FLOW)
    with speaking("openai") as found:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", found.server.base_url)
        answered(capsys, "import", "fixed.flow")
        yield found


def answers(model: Model, *steps: dict[str, Any]) -> None:
    model.begin(Intent(intent="build_flow"), [Answer.model_validate(step) for step in steps])


class TestPlan:
    PLAN: ClassVar[dict[str, Any]] = {"call": "propose_plan", "given": {"markdown": "# Echo\n\n1. Hear\n2. Say"}}

    def test_is_shown_with_how_to_approve_it(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        answers(model, self.PLAN, {"says": "Here is my plan."})
        assert run(["ask", "build something large", *MODEL]) == WAITING
        shown = capsys.readouterr().out
        assert "1 Hear" in shown
        assert "--approve" in shown

    def test_that_is_approved_is_built_in_the_same_conversation(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers(
            model,
            self.PLAN,
            {"says": "Here is my plan."},
            {"call": "build_flow", "given": {"spec": FLOW}},
            {"says": "Built."},
        )
        found = answered(capsys, "ask", "build something large", "--approve", *MODEL)
        assert found["data"]["saved"] is True
        assert len(model.classified) == 1
        assert "User approved the plan." in str(model.asked[-1].body)
        assert "build something large" in str(model.asked[-1].body)


class TestEdits:
    EDIT: ClassVar[dict[str, Any]] = {
        "call": "propose_field_edit",
        "given": {"node_id": "ask", "field": "text", "new_value": "new", "description": "Fresher"},
    }

    def test_are_shown_as_a_difference_and_wait(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        answers(model, self.EDIT, {"says": "Accept it."})
        assert run(["ask", "say new", "--flow", "Fixed", *MODEL]) == WAITING
        shown = capsys.readouterr().out
        assert "-old" in shown
        assert "+new" in shown
        assert "--accept" in shown
        assert "old" in str(answered(capsys, "flows", "show", "Fixed")["definition"])

    def test_that_are_accepted_are_saved_and_the_rest_goes_on(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers(model, self.EDIT, {"says": "Accept it."}, {"call": "run_flow"}, {"says": "It said new."})
        found = answered(capsys, "ask", "say new and then run it", "--accept", "--flow", "Fixed", *MODEL)
        assert found["data"]["run_status"] == "completed"
        assert "new" in str(answered(capsys, "flows", "show", "Fixed")["definition"])


class TestRun:
    FORM = """name: Form
form:
  who: text
    required: true
nodes:
  ask: TextInput
    text: Hello {{flow_input.who}} and {{flow_input.text}}
  out: ChatOutput
edges:
  ask.text -> out.input
"""

    REPORT = (
        "name: Report\nnodes:\n  table: FileInput\n    field: report\n  shown: ReadFile\n  out: ChatOutput\n"
        "edges:\n  table.file -> shown.file\n  shown.text -> out.input\nform:\n  report: document\n"
    )

    def test_is_told_to_the_model_and_gets_what_was_given(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers(model, {"call": "build_flow", "given": {"spec": self.FORM}}, {"call": "run_flow"}, {"says": "Built."})
        given = ("--run", "--text", "all", "--form", "who=Anna")
        found = answered(capsys, "ask", "build a greeting", *given, *MODEL)
        assert found["data"]["run_status"] == "completed"
        assert found["data"]["run"]["outputs"] == {"out": "Hello Anna and all"}
        assert "form answer who: Anna" in str(model.asked[0].body)
        assert "The user wants the flow to be run" in str(model.asked[0].body)

    def test_takes_a_file_for_a_form_field(
        self, model: Model, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (data_folder / "people.csv").write_text("name,city\nAnn,Lund\n", encoding="utf-8")
        answers(model, {"call": "build_flow", "given": {"spec": self.REPORT}}, {"call": "run_flow"}, {"says": "Built."})
        path = f"report=@{data_folder / 'people.csv'}"
        found = answered(capsys, "ask", "read a table", "--run", "--form", path, *MODEL)
        assert found["data"]["run_status"] == "completed"
        assert "| Ann | Lund |" in found["data"]["run"]["outputs"]["out"]

    @pytest.mark.parametrize("steps", [[{"call": "run_flow"}, {"says": "Built."}], [{"says": "Built."}]])
    def test_answers_the_only_question_for_a_file_with_the_only_file(
        self, model: Model, data_folder: Path, capsys: pytest.CaptureFixture[str], steps: list[dict[str, Any]]
    ) -> None:
        (data_folder / "people.csv").write_text("name,city\nAnn,Lund\n", encoding="utf-8")
        required = self.REPORT + "    required: true\n"
        answers(model, {"call": "build_flow", "given": {"spec": required}}, *steps)
        found = answered(capsys, "ask", "read a table", "--run", "--file", str(data_folder / "people.csv"), *MODEL)
        assert found["data"]["run_status"] == "completed"
        assert "| Ann | Lund |" in found["data"]["run"]["outputs"]["out"]
        assert "file: people.csv, file_id " in str(model.asked[0].body)

    def test_that_fails_goes_back_to_the_model(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        broken = FLOW.replace("ask: TextInput", "ask: ParseJSON").replace("ask.text ->", "ask.data ->")
        answers(
            model,
            {"call": "build_flow", "given": {"spec": broken}},
            {"says": "Built."},
            {"call": "run_flow"},
            {"says": "It fails."},
            {"call": "build_flow", "given": {"spec": FLOW}},
            {"call": "run_flow"},
            {"says": "It is corrected."},
        )
        found = answered(capsys, "ask", "build a reader", "--run", *MODEL)
        assert found["data"]["run_status"] == "completed"
        assert "The run failed." in str(model.asked[-1].body)


class TestEnd:
    def test_is_what_was_really_changed(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        change = {"call": "configure_component", "given": {"node_id": "ask", "params": {"text": "changed"}}}
        answers(model, change, {"says": "I also published it."})
        assert run(["ask", "change it", "--flow", "Fixed", *MODEL]) == 0
        shown = capsys.readouterr().out
        assert "Changed:" in shown
        assert "changed" in shown.partition("Changed:")[2]
        assert "tokens" in shown

    def test_is_the_refusal_of_what_is_not_its_business(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        model.begin(Intent(intent="off_topic"), [])
        assert run(["ask", "what is the capital of France?", *MODEL]) == 7
        assert framing.OFF_TOPIC_REFUSAL in capsys.readouterr().out

    def test_shows_what_the_run_said_and_not_the_models_word_for_it_alone(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers(model, {"call": "run_flow"}, {"says": "It said 42."})
        assert run(["ask", "run it", "--flow", "Fixed", *MODEL]) == DECLINED
        shown = capsys.readouterr().out
        assert "out\nold\n" in shown
        assert "The number 42" in shown

    def test_is_not_0_when_the_model_refuses_in_words(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        answers(model, {"says": "I would rather not."})
        assert run(["ask", "add a step that mails it", "--flow", "Fixed", *MODEL]) == DECLINED

    def test_is_not_0_when_the_turn_was_stopped(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        answers(model, {"says": "", "always": True})
        assert run(["ask", "add a step", "--flow", "Fixed", *MODEL]) == FAILED
        assert "answered with nothing" in capsys.readouterr().out

    def test_is_not_0_when_nothing_could_be_run(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        model.begin(Intent(intent="question"), [Answer(says="A flow is a graph.")])
        assert run(["ask", "what is a flow?", "--run", *MODEL]) == DECLINED
        assert "nothing to run" in capsys.readouterr().err

    def test_shows_what_was_paid_for_when_the_provider_fails(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers(model, {"call": "describe_flow_io"}, {"fault": "wrong_key"})
        assert run(["ask", "add a step", "--flow", "Fixed", *MODEL]) == FAILED
        shown = capsys.readouterr().out
        assert " tokens" in shown
        assert f"flow {answered(capsys, 'flows', 'show', 'Fixed')['id']}" in shown

    def test_says_that_a_run_did_not_come_off(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        spec = FLOW.replace("ask: TextInput", "ask: ParseJSON").replace("ask.text ->", "ask.data ->")
        answers(
            model,
            {"call": "build_flow", "given": {"spec": spec}},
            {"call": "run_flow"},
            {"says": "All is well.", "always": True},
        )
        assert run(["ask", "build a flow that reads JSON and run it", *MODEL]) == 1
        shown = capsys.readouterr().out
        assert "All is well." in shown
        assert "The flow does not run yet" in shown

    def test_says_how_to_take_it_back(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        change = {"call": "configure_component", "given": {"node_id": "ask", "params": {"text": "changed"}}}
        answers(model, change, {"says": "Done."})
        assert run(["ask", "change it", "--flow", "Fixed", *MODEL]) == 0
        assert "headgate flows undo" in capsys.readouterr().out
        assert run(["flows", "undo", "Fixed"]) == 0
        assert "text: old" in _exported(capsys)
        assert run(["flows", "undo", "Fixed", "--to", "2"]) == 0
        assert "text: changed" in _exported(capsys)
        revisions = answered(capsys, "flows", "revisions", "Fixed")
        assert [(line["revision"], line["restores"]) for line in revisions] == [(4, 2), (3, 1), (2, None), (1, None)]
        assert revisions[0]["changes"] == ['~ node \'ask\' params.text: "old" -> "changed"']

    def test_holds_no_lines_of_the_log(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        answers(model, {"call": "remove_component", "given": {"node_id": "nobody"}}, {"says": "I removed it."})
        assert run(["ask", "remove nobody", "--flow", "Fixed", *MODEL]) == DECLINED
        shown = capsys.readouterr()
        assert "Nothing was changed" in shown.out
        assert shown.err == ""

    def test_shows_a_component_and_what_it_may_reach_before_it_is_saved(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        model.begin(Intent(intent="generate_component"), [Answer(says="```python\n@component:Weather\n```")])
        assert run(["ask", "make a component", *MODEL]) == WAITING
        said = capsys.readouterr().out
        assert "class Weather(Component):" in said
        assert "Hosts: api.example.org" in said
        assert "Secrets: the values of api_key" in said
        assert "headgate components register FILE" in said
        assert run(["components", "--own"]) == 0
        assert "Weather" not in capsys.readouterr().out

    def test_saves_a_component_that_is_accepted_and_continues_with_it(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers = [
            Answer(call="propose_component", given={"code": "@component:ReverseText"}),
            Answer(says="It waits."),
            Answer(call="search_components", given={"query": "reverse text"}),
            Answer(says="It is there."),
        ]
        model.begin(Intent(intent="component_then_flow"), answers)
        run(["ask", "make a component and look for it", "--accept", *MODEL])
        assert "Saved ReverseText" in capsys.readouterr().out
        assert model.left == []
        assert '"type":"ReverseText"' in read_by(model.asked[-1])

    def test_says_what_to_do_with_a_component_that_was_saved(
        self, model: Model, capsys: pytest.CaptureFixture[str]
    ) -> None:
        name, code = "ReverseText", components()["ReverseText"]
        model.begin(Intent(intent="generate_component"), [Answer(says=f"```python\n{code}\n```")])
        assert run(["ask", "make a component", "--accept", *MODEL]) == 0
        assert f'headgate ask "build a flow with {name} ..."' in capsys.readouterr().out
        assert run(["components", "--own"]) == 0
        assert name in capsys.readouterr().out


def _exported(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(["export", "Fixed"]) == 0
    return capsys.readouterr().out


class TestOfflineRun:
    @pytest.mark.usefixtures("data_folder")
    def test_that_completes_after_the_turn_ends_with_0(self, capsys: pytest.CaptureFixture[str]) -> None:
        request = "list the installed packages and count them per licence and save as licences.md"
        assert run(["ask", request, "--run", "--model", "offline"]) == OK, capsys.readouterr().out


class TestRequest:
    def test_that_is_empty_or_endless_is_refused_in_a_sentence(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for words, said in (
            ("", "The request is empty."),
            (" ", "The request is empty."),
            ("a " * 60_000, "input_value"),
        ):
            assert run(["ask", words]) == 3
            assert capsys.readouterr().err.startswith(f"Error: {said}")
