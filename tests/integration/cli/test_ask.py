"""`headgate ask` against a model that speaks OpenAI's protocol: plans, proposed edits, and what it ends with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from headgate.entrypoints.cli.app import run
from tests.integration.agents.assistant.scenarios.model import Model, speaking
from tests.integration.agents.assistant.scenarios.script import Answer, Intent
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
        assert run(["ask", "build something large", *MODEL]) == 0
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
        assert run(["ask", "say new", "--flow", "Fixed", *MODEL]) == 0
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


class TestEnd:
    def test_is_what_was_really_changed(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        change = {"call": "configure_component", "given": {"node_id": "ask", "params": {"text": "changed"}}}
        answers(model, change, {"says": "I also published it."})
        assert run(["ask", "change it", "--flow", "Fixed", *MODEL]) == 0
        shown = capsys.readouterr().out
        assert "Changed:" in shown
        assert "changed" in shown.partition("Changed:")[2]
        assert "tokens" in shown
