"""Which flow a command means, dry runs, classes of models, and what `ask` ends with."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import PARTLY
from tests.integration.cli.test_commands import data_folder, flow_file
from tests.support.cli import answered

__all__ = ["data_folder", "flow_file"]
CODE = """nodes:
  say: TextInput
    text: x
  own: Python
    source: |
      import subprocess
      def go(inputs): ...
edges:
  say.text -> own.inputs
"""


class TestFlowByName:
    def test_is_taken_by_every_command(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        flow = answered(capsys, "import", str(flow_file))
        assert answered(capsys, "flows", "show", "echo")["id"] == flow["id"]
        assert answered(capsys, "run", "Echo", "--text", "hi")["outputs"] == {"said": "hi"}
        assert answered(capsys, "export", "Echo")["name"] == "Echo"
        assert len(answered(capsys, "runs", "list", "--flow", "Echo")) == 1
        assert answered(capsys, "flows", "publish", "Echo")["release"] == 1
        assert answered(capsys, "flows", "delete", "Echo", "--yes")["deleted"] == flow["id"]
        assert answered(capsys, "flows", "show", "Echo", code=4)["code"] == "flow_not_found"
        assert answered(capsys, "ask", "run it", "--flow", "Echo", code=4)["code"] == "flow_not_found"

    def test_that_several_have_is_refused_with_their_ids(
        self, capsys: pytest.CaptureFixture[str], flow_file: Path
    ) -> None:
        first, second = answered(capsys, "import", str(flow_file)), answered(capsys, "import", str(flow_file))
        refused = answered(capsys, "flows", "show", "Echo", code=3)
        assert refused["code"] == "flow_ambiguous"
        assert refused["flows"] == [second["id"], first["id"]]
        assert first["id"] in refused["detail"]

    def test_written_exactly_wins(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        answered(capsys, "import", str(flow_file))
        flow_file.write_text(flow_file.read_text().replace("Echo", "ECHO"))
        other = answered(capsys, "import", str(flow_file))
        assert answered(capsys, "flows", "show", "ECHO")["id"] == other["id"]

    def test_list_shows_the_release_and_not_the_version(
        self, capsys: pytest.CaptureFixture[str], flow_file: Path
    ) -> None:
        flow = answered(capsys, "import", str(flow_file))
        for text in ("b", "c"):
            flow_file.write_text(flow_file.read_text().replace("heard", text))
        answered(capsys, "run", flow["id"], "--text", "x")
        answered(capsys, "flows", "publish", flow["id"])
        capsys.readouterr()
        assert run(["flows", "list"]) == 0
        assert "release 1" in capsys.readouterr().out


class TestDryRun:
    def test_of_a_file_stores_nothing(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        found = answered(capsys, "run", str(flow_file), "--dry-run", "--text", "hi")
        assert [one["step_id"] for one in found["path"]] == ["heard", "said"]
        assert found["ok"]
        assert answered(capsys, "flows", "list") == []

    def test_tells_people_and_ends_with_3_where_a_run_could_not(
        self, capsys: pytest.CaptureFixture[str], flow_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        flow_file.write_text("name: Ask\nnodes:\n  a: AIStep\n    prompt: Hi\n    model: openai/gpt-5-mini\n")
        assert run(["run", str(flow_file), "--dry-run"]) == 3
        told = capsys.readouterr().out
        assert "1. a" in told
        assert "OPENAI_API_KEY" in told
        answered(capsys, "import", str(flow_file), code=PARTLY)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        assert run(["run", "Ask", "--dry-run"]) == 0
        told = capsys.readouterr().out
        assert "reaches api.openai.com" in told
        assert "Nothing was run." in told

    def test_shows_the_steps_of_flows_below_the_steps_that_run_them(
        self, capsys: pytest.CaptureFixture[str], flow_file: Path
    ) -> None:
        answered(capsys, "import", str(flow_file))
        answered(capsys, "flows", "publish", "Echo")
        spec = (
            "name: {0}\nnodes:\n  ask: ChatInput\n  call: {1}\n    flow: {2}\n{3}"
            "  wait: WaitForEvent\n    event: paid\n"
            "edges:\n  ask.text -> call.{4}\n  call.text -> wait.value\n"
        )
        flow_file.write_text(spec.format("Middle", "RunFlow", "Echo", "", "text"))
        answered(capsys, "import", str(flow_file))
        answered(capsys, "flows", "publish", "Middle")
        flow_file.write_text(spec.format("Outer", "ForEach", "Middle", "    parallel: 2\n", "items"))
        nested = answered(capsys, "run", str(flow_file), "--dry-run", "--text", "a\nb")
        call = next(step for step in nested["path"] if step["step_id"] == "call")["calls"][0]
        inner = next(step for step in call["preview"]["path"] if step["step_id"] == "call")["calls"][0]
        assert [step["step_id"] for step in inner["preview"]["path"]] == ["heard", "said"]
        capsys.readouterr()
        assert run(["run", str(flow_file), "--dry-run", "--text", "a\nb"]) == 0
        lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        assert "2.1. ask (ChatInput, certain)" in lines
        assert "2.2.2. said (ChatOutput, certain)" in lines
        assert "2.3. Waits for the event 'paid', without limit." in lines

    def test_takes_no_files(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        refused = answered(capsys, "run", str(flow_file), "--dry-run", "--file", str(flow_file), code=3)
        assert "cannot store files" in refused["detail"]


class TestValidateCode:
    def test_reads_the_code_of_python_nodes(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        flow_file.write_text(CODE)
        found = answered(capsys, "validate", str(flow_file), code=3)
        messages = [one["message"] for one in found["issues"]]
        assert any("line 1 of 'source' of node 'own' (Python): 'subprocess'" in one for one in messages)
        assert any("defines no function 'run'" in one for one in messages)


class TestModelClasses:
    def test_are_set_listed_and_removed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert answered(capsys, "models", "classes", "set", "openai/*", "K1")["level"] == 1
        assert answered(capsys, "models", "classes", "list")["items"][0]["class_name"] == "K1 internal"
        assert run(["models", "classes", "list"]) == 0
        assert "Classification is turned off" in capsys.readouterr().out
        answered(capsys, "models", "classes", "remove", "openai/*")
        assert answered(capsys, "models", "classes", "remove", "openai/*", code=4)["code"] == "model_not_classed"
        assert answered(capsys, "models", "classes", "set", "openai/x", "9", code=3)["code"] == "class_unknown"


class TestAsk:
    def test_ends_with_7_when_it_says_that_it_cannot(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = answered(capsys, "ask", "train a neural network on my emails", "--model", "offline", code=7)
        assert found["data"]["declined"]
        found = answered(capsys, "ask", "what can you do?", "--model", "offline")
        assert not found["data"]["declined"]
        built = answered(capsys, "ask", "fetch https://example.org and save it as page.md", "--model", "offline")
        assert not built["data"]["declined"]
        assert built["data"]["flow_id"]
