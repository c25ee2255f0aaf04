"""What the command line says to somebody whose installation or order is wrong: never a trace, always what to do."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import _ELSEWHERE, run
from headgate.entrypoints.cli.exit_codes import PARTLY, WAITING
from tests.integration.cli.test_commands import HEADGATE, data_folder, flow_file
from tests.support.cli import answered

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

    def test_whose_database_is_damaged_is_told_by_the_server_too(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "headgate.db").write_bytes(b"photograph" * 500)
        done = subprocess.run([str(HEADGATE), "serve", "--port", "0"], capture_output=True, text=True, check=False)
        assert done.returncode == 5
        assert "Restore it from a backup." in done.stderr
        assert "Traceback" not in done.stderr
        assert "Headgate is at" not in done.stderr
        assert run(["doctor"]) == 5
        told = capsys.readouterr().out
        assert "✗ database" in told
        assert "port" in told

    def test_in_which_something_is_in_the_way_is_told(
        self, capsys: pytest.CaptureFixture[str], flow_file: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "workers").write_text("")
        assert answered(capsys, "run", str(flow_file), "--text", "x", code=5)["code"] == "file_unusable"


class TestSettings:
    def test_that_do_not_exist_are_named_when_the_server_starts(self, tmp_path: Path) -> None:
        environment = {**os.environ, "HEADGATE_SERVER__AUTOLOGIN": "false", "HEADGATE_SERVER__HOST": "192.0.2.1"}
        command = [str(HEADGATE), "serve", "--port", "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        assert "HEADGATE_SERVER__AUTOLOGIN is not a Headgate setting and is ignored." in done.stderr
        assert "Did you mean HEADGATE_SERVER__AUTO_LOGIN?" in done.stderr

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("HEADGATE_ENGINE__LEASE_SECONDS", "sekret", "HEADGATE_ENGINE__LEASE_SECONDS"),
            ("HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS", "sekret", '["10.20.0.0/24"]'),
            ("HEADGATE_CLASSIFICATION__LEVELS", '["sekret"]', "HEADGATE_CLASSIFICATION__LEVELS"),
            (
                "HEADGATE_SERVER__PUBLIC_URL",
                "https://sekret.example.org/path",
                "__PUBLIC_URL: write scheme and host only",
            ),
            ("HEADGATE_SERVER__PUBLIC_URL", "sekret.example.org", "such as https://headgate.example.org"),
            (
                "HEADGATE_SERVER__TRUSTED_PROXIES",
                '["sekret"]',
                "TRUSTED_PROXIES: one is not an address",
            ),
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


class TestDriver:
    def test_that_is_not_installed_is_named_with_what_installs_it(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        monkeypatch.setenv("HEADGATE_DATABASE__URL", "postgresql+psycopg://user:geheim@127.0.0.1:1/none")
        refused = answered(capsys, "runs", "list", code=5)
        assert "headgate[postgres]" in refused["remedy"]
        assert "geheim" not in str(refused)


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

    def test_says_what_was_not_delivered_and_how_it_is_sent(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        path = data_folder / "tell.flow"
        path.write_text(
            "name: Tell\nnodes:\n  note: TextInput\n    text: x\n    policy:\n      output_mode: http_post\n"
            "      output_config:\n        url: https://desk.invalid\n"
        )
        assert run(["run", str(path)]) == WAITING
        said = capsys.readouterr().out
        run_id = answered(capsys, "runs", "list")[0]["id"]
        assert run(["runs", "show", run_id]) == 0
        for told in (said, capsys.readouterr().out):
            assert "was not delivered to https://desk.invalid" in told
            assert "The host desk.invalid does not exist" in told
            assert f"headgate runs redeliver {run_id}" in told

    def test_does_not_start_without_a_variable_that_its_delivery_needs(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        path = data_folder / "tell.flow"
        path.write_text(
            "name: Tell\nnodes:\n  note: TextInput\n    text: x\n    policy:\n      output_mode: http_post\n"
            "      output_config:\n        url: https://desk.invalid\n"
            '        headers:\n          Authorization: {"secret": "NOT_THERE", "scheme": "Bearer"}\n'
        )
        assert run(["run", str(path)]) == 3
        assert "headgate variables set NOT_THERE" in capsys.readouterr().err
        assert answered(capsys, "runs", "list") == []


class TestSecurityClasses:
    def test_keep_a_flow_file_from_being_stored_and_are_told_on_import(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_CLASSIFICATION__ENABLED", "true")
        path = data_folder / "case.flow"
        path.write_text(
            "name: Case\nnodes:\n  ask: TextInput\n  brief: AIStep\n    prompt: Short.\n    model: openai/gpt-5-mini\n"
            "edges:\n  ask.text -> brief.input\nsettings:\n  input_classification: 3\n"
        )
        assert answered(capsys, "run", str(path), "--text", "x", code=3)["code"] == "flow_invalid"
        assert answered(capsys, "flows", "list") == []
        told = answered(capsys, "import", str(path), code=PARTLY)["issues"]
        assert [one["code"] for one in told] == ["model_not_usable", "classification"]
        assert run(["run", "Case", "--dry-run"]) == 3
        said = capsys.readouterr().out
        assert said.count("headgate variables set OPENAI_API_KEY") == 1


class TestWriting:
    def test_where_nothing_can_be_written_is_told(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        answered(capsys, "import", str(flow_file))
        assert answered(capsys, "export", "Echo", "-o", "/no/such/folder", code=3)["code"] == "invalid"

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
    @pytest.mark.parametrize("command", [("flows", "list"), ("flows", "list", "--json"), ("export", "Echo")])
    def test_an_answer_to_a_full_disk_is_told(
        self, command: tuple[str, ...], capsys: pytest.CaptureFixture[str], flow_file: Path
    ) -> None:
        answered(capsys, "import", str(flow_file))
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [str(HEADGATE), *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 5
        assert done.stderr.startswith("Error: Something could not be written: No space left on device.")
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr

    @pytest.mark.parametrize("command", ["flows list", "run", "doctor"])
    def test_a_database_whose_disk_takes_nothing_is_told(
        self, command: str, capsys: pytest.CaptureFixture[str], flow_file: Path
    ) -> None:
        answered(capsys, "import", str(flow_file))
        words = f"{command} {flow_file}" if command == "run" else command
        done = subprocess.run(
            ["sh", "-c", f"ulimit -f 0; exec {HEADGATE} {words}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 5
        assert "free some space" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


class TestModels:
    def test_that_nobody_knows_are_refused_before_a_bar_is_drawn(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["models", "pull", "nope"]) == 4
        assert capsys.readouterr().err.startswith("Error: ")


class TestNumbers:
    def test_beyond_every_column_are_no_version(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        answered(capsys, "import", str(flow_file))
        huge = str(10**20)
        assert answered(capsys, "flows", "restore", "Echo", huge, code=4)["code"] == "version_not_found"
        assert answered(capsys, "flows", "diff", "Echo", huge, code=4)["code"] == "version_not_found"
        run_id = answered(capsys, "run", "Echo", "--text", "x")["run_id"]
        assert answered(capsys, "runs", "rerun", run_id, "--version", huge, code=3)["code"] == "invalid"


class TestText:
    def test_that_is_no_unicode_is_refused(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        done = subprocess.run([str(HEADGATE), "run", flow_file, "--text", b"\xff"], capture_output=True, check=False)
        assert done.returncode == 3, done
        assert done.stderr.startswith(b"Error: text: "), done.stderr
        for command in (["run", str(flow_file), "--dry-run"], ["runs", "rerun", "some"]):
            assert run([*command, "--text", "\udcff"]) == 3  # as Python reads such an argument
            assert capsys.readouterr().err.startswith("Error: text: ")


class TestEvidence:
    def test_that_is_none_and_a_key_that_is_not_there_are_named(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path
    ) -> None:
        (data_folder / "photo.json").write_bytes(b"\xff\xd8\xff\xe0")
        assert run(["evidence", "verify", "photo.json"]) == 3
        assert "neither a JSON document nor a zip" in capsys.readouterr().err
        assert run(["evidence", "verify", "photo.json", "--key", "headgate.pub"]) == 4
        assert "There is no file headgate.pub" in capsys.readouterr().err


class TestACommandThatThereIsNot:
    @pytest.mark.parametrize(
        ("order", "meant"),
        [
            ("flow list", "Did you mean 'headgate flows'?"),
            ("template list", "Did you mean 'headgate templates'?"),
            ("help", "Did you mean 'headgate -h'?"),
            ("start", "Did you mean 'headgate serve'?"),
            ("publish x", "Did you mean 'headgate flows publish'?"),
        ],
    )
    def test_names_the_one_that_was_meant(self, order: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(order.split()) == 2
        assert meant in capsys.readouterr().err

    @pytest.mark.parametrize("other", [*_ELSEWHERE.values(), "flows", "templates"])
    def test_is_sent_to_one_that_there_is(self, other: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert run([*other.split(), "-h"]) == 0
        assert "Usage" in capsys.readouterr().out

    def test_has_no_hint_where_nothing_is_near(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["zorbify"]) == 2
        assert "Did you mean" not in capsys.readouterr().err


class TestSearchOfComponents:
    @pytest.mark.parametrize("order", ["describe SendMail", "show SendMail", "SendMail", "fetch a page", "list"])
    def test_takes_words_as_they_come(self, order: str, capsys: pytest.CaptureFixture[str]) -> None:
        found = answered(capsys, "components", *order.split())
        assert ("URL" if order in {"fetch a page", "list"} else "SendMail") in str(found)
