"""What the command line says to somebody whose installation or order is wrong: never a trace, always what to do."""

import signal
import subprocess
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.integration.cli.test_commands import HEADGATE, answered, data_folder, flow_file

__all__ = ["data_folder", "flow_file"]
SLOW = """name: Slow
nodes:
  ask: ChatInput
  pause: Wait
    seconds: 60
edges:
  ask.text -> pause.value
"""


class TestDataFolder:
    @pytest.mark.parametrize("below", ["", "deeper/down"])
    def test_that_is_a_file_is_named(
        self, below: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "taken").write_text("")
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "taken" / below))
        assert run(["runs", "list"]) == 5
        said = capsys.readouterr().err
        assert str(tmp_path / "taken") in said
        assert "HEADGATE_DATA_DIR" in said
        assert run(["doctor"]) == 5

    def test_is_closed_to_other_users(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        answered(capsys, "runs", "list")
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("HEADGATE_ENGINE__LEASE_SECONDS", "sekret", "HEADGATE_ENGINE__LEASE_SECONDS"),
            ("HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS", "sekret", '["10.20.0.0/24"]'),
            ("HEADGATE_CLASSIFICATION__LEVELS", '["sekret"]', "HEADGATE_CLASSIFICATION__LEVELS"),
            ("HEADGATE_CLASSIFICATION__EXTERNAL_MAX", "4", "HEADGATE_CLASSIFICATION: external_max is 4"),
        ],
    )
    def test_that_cannot_be_are_named_and_not_repeated(
        self, name: str, value: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(name, value)
        for command in (["runs", "list"], ["doctor"], ["serve"], ["evidence", "key"]):
            assert run(command) == 3
            shown = capsys.readouterr().err
            assert said in shown
            assert "sekret" not in shown
        assert answered(capsys, "runs", "list", code=3)["code"] == "settings_invalid"


class TestRun:
    def test_of_a_file_that_is_refused_leaves_no_flow(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        path = data_folder / "form.flow"
        nodes = "name: Letter\nnodes:\n  out: TextInput\n    text: x\n"
        path.write_text(nodes + "form:\n  city: text\n    required: true\n")
        assert answered(capsys, "run", str(path), code=3)["code"] == "run_input_invalid"
        assert answered(capsys, "run", str(path), "--form", "town=Lund", code=3)["code"] == "run_input_invalid"
        path.write_text(nodes + "  broken: ParseJSON\n")
        assert answered(capsys, "run", str(path), code=3)["code"] == "spec_invalid"
        assert answered(capsys, "flows", "list") == []

    def test_names_its_flow_for_programs(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        outcome = answered(capsys, "run", str(flow_file), "--text", "x")
        assert [one["id"] for one in answered(capsys, "flows", "list")] == [outcome["flow_id"]]

    def test_that_failed_says_how_it_goes_on_and_is_listed_with_its_flow_and_cause(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        path = data_folder / "parse.flow"
        path.write_text("name: Läs 🎉\nnodes:\n  a: ChatInput\n  b: ParseJSON\nedges:\n  a.text -> b.text\n")
        assert run(["run", str(path), "--text", "no json"]) == 1
        run_id = answered(capsys, "runs", "list")[0]["id"]
        for command in (["run", "Läs 🎉", "--text", "no json"], ["runs", "show", run_id], ["runs", "resume", run_id]):
            run(command)
            assert "headgate runs resume " in capsys.readouterr().out
        assert run(["runs", "list"]) == 0
        listed = capsys.readouterr().out
        assert "Läs 🎉" in listed
        assert "JSON" in listed

    def test_that_is_stopped_says_so_and_how_it_is_run_again(self, data_folder: Path) -> None:
        (data_folder / "slow.flow").write_text(SLOW)
        command = [str(HEADGATE), "run", "slow.flow", "--text", "x"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert "ask" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "was cancelled" in said
        assert "headgate runs rerun " in said
        assert "Stopped." in said
