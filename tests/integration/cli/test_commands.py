"""The command line, called as a terminal calls it, on a real data folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import COMMANDS, run
from headgate.entrypoints.cli.document import command_line_page
from headgate.features.access.principal import DEFAULT_SPACE_ID
from tests.support.cli import answered
from tests.support.mcp_server import McpProcess

FLOW = """name: Echo
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.text -> said.input
"""
HEADGATE = Path(sys.executable).with_name("headgate")


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def flow_file(data_folder: Path) -> Path:
    path = data_folder / "echo.flow"
    path.write_text(FLOW)
    return path


class TestFlowsAndRuns:
    def test_go_from_a_file_to_evidence(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        flow = answered(capsys, "import", str(flow_file))
        assert flow["issues"] == []
        outcome = answered(capsys, "run", flow["id"], "--text", "hej")
        assert outcome["outputs"] == {"said": "hej"}
        listed = answered(capsys, "runs", "list", "--flow", flow["id"])
        assert [one["id"] for one in listed] == [outcome["run_id"]]
        evidence = answered(capsys, "runs", "evidence", outcome["run_id"])
        assert evidence["run"]["status"] == "completed"
        assert answered(capsys, "flows", "publish", flow["id"])["release"] == 1
        assert answered(capsys, "run", flow["id"], "--published", "--text", "x")["status"] == "completed"

    def test_answer_complete_results_and_say_where_the_rest_of_an_artifact_is(
        self,
        capsys: pytest.CaptureFixture[str],
        flow_file: Path,
        data_folder: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("HEADGATE_LIMITS__MAX_INLINE_TEXT_BYTES", "10000")
        monkeypatch.setenv("HEADGATE_LIMITS__MAX_INLINE_JSON_BYTES", "10000")
        flow = answered(capsys, "import", str(flow_file))
        for text in ("word " * 1_500, "word " * 5_000):
            outcome = answered(capsys, "run", flow["id"], "--text", text)
            shown = answered(capsys, "runs", "show", outcome["run_id"])
            assert shown["truncated"] is (len(text) > 10_000)
            if shown["truncated"]:
                assert "shortened" in outcome["outputs"]["said"]
                assert run(["runs", "show", outcome["run_id"]]) == 0
                assert f"headgate runs text {outcome['run_id']}" in capsys.readouterr().out
            else:
                assert (shown["text"], outcome["outputs"]["said"]) == (text, text)
            assert answered(capsys, "runs", "text", outcome["run_id"])["text"] == text
            saved = data_folder / "text.txt"
            assert run(["runs", "text", outcome["run_id"], "-o", str(saved)]) == 0
            assert saved.read_text() == text
            capsys.readouterr()

    def test_tell_people_the_same(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        assert run(["run", str(flow_file), "--text", "hej"]) == 0
        shown = capsys.readouterr().out
        assert "heard" in shown
        assert "hej" in shown
        assert run(["flows", "list"]) == 0
        assert "Echo" in capsys.readouterr().out

    def test_export_what_was_imported(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        flow = answered(capsys, "import", str(flow_file))
        assert run(["export", flow["id"]]) == 0
        assert capsys.readouterr().out == FLOW
        assert run(["export", flow["id"], "--format", "json", "-o", "flow.json"]) == 0
        again = answered(capsys, "import", "flow.json")
        assert again["name"] == "Echo"

    def test_say_what_a_failed_run_failed_on(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        broken = data_folder / "broken.flow"
        broken.write_text(FLOW.replace("  said: ChatOutput", "  said: ParseJSON").replace("said.input", "said.text"))
        outcome = answered(capsys, "run", str(broken), "--text", "not json", code=1)
        assert outcome["status"] == "failed"
        assert "JSON" in outcome["error"]

    def test_compare_and_restore_versions(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        flow = answered(capsys, "import", str(flow_file))
        answered(capsys, "flows", "publish", flow["id"])
        assert answered(capsys, "flows", "diff", flow["id"], "1")["identical"] is True
        assert answered(capsys, "flows", "restore", flow["id"], "1")["revision"] == 1
        assert len(answered(capsys, "flows", "versions", flow["id"])) == 1
        answered(capsys, "flows", "delete", flow["id"])
        assert answered(capsys, "flows", "list") == []

    def test_give_back_the_file_a_run_made(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        saving = data_folder / "save.flow"
        saving.write_text(
            FLOW.replace("said: ChatOutput", "said: SaveFile\n    name: words.txt").replace(
                "said.input", "said.content"
            )
        )
        outcome = answered(capsys, "run", str(saving), "--text", "åäö")
        made = answered(capsys, "runs", "files", outcome["run_id"])
        answered(capsys, "runs", "download", made[0]["id"], "--output", "got.txt")
        assert Path("got.txt").read_text(encoding="utf-8").strip() == "åäö"


class TestValidate:
    def test_names_every_fault_with_its_line(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        wrong = data_folder / "wrong.flow"
        wrong.write_text(FLOW.replace("ChatOutput", "ChatOutptu").replace("heard.text", "heard.txet"))
        found = answered(capsys, "validate", str(wrong), code=3)
        assert found["valid"] is False
        assert {issue["line"] for issue in found["issues"]} >= {4}

    def test_stores_nothing(self, capsys: pytest.CaptureFixture[str], flow_file: Path) -> None:
        assert answered(capsys, "validate", str(flow_file)) == {
            "valid": True,
            "issues": [],
            "needs": [],
            "installation": False,
        }
        assert not (flow_file.parent / "data" / "headgate.db").exists()


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "code", "word"),
        [
            (["flows", "show", "nope"], 4, "nope"),
            (["runs", "show", "nope"], 4, "nope"),
            (["import", "missing.flow"], 3, "missing.flow"),
            (["flows", "diff", "x", "y"], 3, "y"),
            (["ask", "hello", "--model", "nonsense"], 3, "nonsense"),
            (["run", "nope", "--form", "bad"], 3, "bad"),
            (["flows", "show", "too", "many"], 2, ""),
        ],
    )
    def test_have_a_code_and_name_the_thing(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, word: str
    ) -> None:
        assert run(arguments) == code
        told = capsys.readouterr()
        assert word in told.err + told.out
        assert "Traceback" not in told.err

    def test_are_problem_documents_for_programs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert answered(capsys, "flows", "show", "nope", code=4)["code"] == "flow_not_found"


class TestVariables:
    def test_are_listed_by_name_only(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        import io

        monkeypatch.setattr("sys.stdin", io.StringIO("sk-abcdefghijklmnop\n"))
        assert answered(capsys, "variables", "set", "OPENAI_API_KEY")["stored"]
        monkeypatch.setattr("sys.stdin", io.StringIO("sk-abcdefghijklmnop\n"))
        assert answered(capsys, "variables", "set", "OPENAI_API_KEY", "--organisation")["space_id"] is None
        listed = answered(capsys, "variables", "list")
        assert listed == [
            {"name": "OPENAI_API_KEY", "space_id": space, "secret": True, "hosts": []}
            for space in (DEFAULT_SPACE_ID, None)
        ]
        assert answered(capsys, "variables", "delete", "OPENAI_API_KEY")["deleted"] == "OPENAI_API_KEY"
        assert [one["space_id"] for one in answered(capsys, "variables", "list")] == [None]


class TestQuotas:
    def test_are_listed_set_and_removed(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "quotas", "set", "space", "runs_per_hour", "5", "--space", DEFAULT_SPACE_ID)
        assert made == {"scope": "space", "space_id": DEFAULT_SPACE_ID, "quota": "runs_per_hour", "most": 5}
        listed = {(one["scope"], one["space_id"], one["quota"]): one for one in answered(capsys, "quotas", "list")}
        assert listed["space", DEFAULT_SPACE_ID, "runs_per_hour"]["most"] == 5
        assert answered(capsys, "quotas", "set", "space", "runs_per_hour", "--space", DEFAULT_SPACE_ID)["most"] is None
        listed = {(one["scope"], one["space_id"], one["quota"]): one for one in answered(capsys, "quotas", "list")}
        assert listed["space", DEFAULT_SPACE_ID, "runs_per_hour"]["most"] is None


class TestDirectory:
    def test_is_connected_rotated_and_disconnected(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert answered(capsys, "directory", "show")["token"] is None
        made = answered(capsys, "directory", "token", "--network", "192.0.2.0/24")
        assert made["token"].startswith(made["prefix"])
        shown = answered(capsys, "directory", "show")
        assert shown["token"]["networks"] == ["192.0.2.0/24"]
        assert shown["address"].endswith("/scim/v2")
        assert answered(capsys, "directory", "token")["prefix"] != made["prefix"]
        assert answered(capsys, "directory", "groups") == []
        assert run(["directory", "map", "Staff", DEFAULT_SPACE_ID, "editor"]) == 4
        assert "has no group 'Staff'" in capsys.readouterr().err
        assert answered(capsys, "directory", "disconnect") == {"token": None}
        assert run(["directory", "disconnect"]) == 4


class TestMcpServers:
    def test_that_are_programs_are_given_hosts_and_folders(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        folder = str(tmp_path_factory.mktemp("shared").resolve())
        monkeypatch.setenv("HEADGATE_MCP__ALLOW_STDIO", "true")
        monkeypatch.setenv("HEADGATE_MCP__PROGRAM_FOLDERS", f'["{folder}"]')
        access = ["--host", "api.example.org", "--read", folder]
        added = answered(capsys, "mcp-servers", "add", "files", "--command", "no-such-program", *access)
        assert "could not be started: No such file: no-such-program" in added["error_message"]
        assert added["access"] == {"hosts": ["api.example.org"], "read": [folder], "write": []}
        assert run(["mcp-servers", "access", "files", "--write", folder]) == 0
        assert capsys.readouterr().out == f"The program may connect to: none; read: none; write: {folder}.\n"
        assert answered(capsys, "mcp-servers", "access", "files", "--read", "/etc", code=3)["code"] == "bad_mcp_server"
        assert answered(capsys, "mcp-servers", "show", "files")["access"]["write"] == [folder]
        assert answered(capsys, "mcp-servers", "access", "files")["access"] == {"hosts": [], "read": [], "write": []}

    def test_are_added_listed_switched_and_removed(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS", '["127.0.0.0/8"]')
        with McpProcess(tmp_path / "tally") as server:
            header = "Authorization: Bearer secret-token-1"
            added = answered(capsys, "mcp-servers", "add", "weather", server.url, "--header", header)
            assert added["tools"][:2] == ["forecast", "add"]
            assert answered(capsys, "mcp-servers", "test", "weather")["server"] == "weather-service"
            assert answered(capsys, "mcp-servers", "refresh", "weather")["added"] == []
        assert answered(capsys, "mcp-servers", "switch", "weather", "--off", "--tool", "add")["enabled"] is False
        chosen = answered(capsys, "mcp-servers", "sampling", "weather", "openai/gpt-5-mini", "--max-requests", "2")
        limits = {"max_tokens": 4000, "max_requests": 2, "ask": True}
        assert chosen["sampling"] == {"model": "openai/gpt-5-mini", **limits}
        assert answered(capsys, "mcp-servers", "sampling", "weather", "nothing", code=3)["code"] == "bad_mcp_server"
        assert answered(capsys, "mcp-servers", "show", "weather")["sampling"]["model"] == "openai/gpt-5-mini"
        assert answered(capsys, "mcp-servers", "sampling", "weather")["sampling"] is None
        tools = answered(capsys, "mcp-servers", "tools", "weather")
        assert {one["name"] for one in tools if not one["enabled"]} == {"add"}
        shown = answered(capsys, "mcp-servers", "show", "weather")
        assert shown["secret_names"] == ["Authorization"]
        assert [one["name"] for one in answered(capsys, "mcp-servers", "list")] == ["weather"]
        assert "secret-token-1" not in json.dumps(shown)
        assert answered(capsys, "mcp-servers", "refresh", "weather", code=5)["status"] == 502
        assert answered(capsys, "mcp-servers", "remove", "weather") == {"removed": "weather"}
        assert answered(capsys, "mcp-servers", "show", "weather", code=4)["code"] == "mcp_server_not_found"

    def test_tell_people_the_same(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["mcp-servers", "add", "weather", "http://10.0.0.1/mcp"]) == 0
        told = capsys.readouterr().out
        assert "Registered weather." in told
        assert "Connections to 10.0.0.1 are not allowed" in told
        assert run(["mcp-servers", "list"]) == 0
        assert "weather" in capsys.readouterr().out

    def test_that_are_programs_need_the_operator(self, capsys: pytest.CaptureFixture[str]) -> None:
        refused = answered(capsys, "mcp-servers", "add", "files", "--command", "cat", code=5)
        assert refused["code"] == "mcp_programs_refused"


class TestSystem:
    def test_doctor_finds_this_machine_fit(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = answered(capsys, "doctor")
        assert {one["what"] for one in found["findings"]} >= {"database", "sandbox", "secret key"}

    def test_db_upgrade_is_done_once(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        (data_folder / "data").mkdir()
        first = answered(capsys, "db", "upgrade")
        assert first["before"] is None
        assert answered(capsys, "db", "upgrade")["before"] == first["after"]

    def test_components_are_found_and_described(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert any(one["type"] == "ReadFile" for one in answered(capsys, "components", "read a pdf"))
        assert answered(capsys, "components", "Regex")["type"] == "Regex"

    def test_templates_become_flows(self, capsys: pytest.CaptureFixture[str]) -> None:
        listed = answered(capsys, "templates", "list")
        assert len(listed) >= 12
        made = answered(capsys, "templates", "use", "licence-report")
        assert answered(capsys, "run", made["id"])["status"] == "completed"
        made = answered(capsys, "templates", "use", "return-label")
        assert made["also_created"] == ["Address check"]
        made = answered(capsys, "templates", "use", "nightly-batch")
        assert (made["also_created"], made["notes"]) == (["Expense check"], [])
        (trigger,) = answered(capsys, "triggers", "list", "--flow", made["id"])
        assert (trigger["kind"], trigger["enabled"]) == ("schedule", False)
        capsys.readouterr()
        assert run(["templates", "use", "nightly-batch"]) == 0
        assert f"Added the trigger '{trigger['name']}', switched off" in " ".join(capsys.readouterr().out.split())
        assert answered(capsys, "templates", "list", "email addresses")[0]["id"] == "email-addresses"
        assert answered(capsys, "templates", "use", "licence-reprot", code=4)["code"] == "unknown_template"

    def test_version_loads_nothing_else(self) -> None:
        code = "import sys; sys.argv = ['headgate', 'version']; from headgate.entrypoints.cli import main; main(); "
        code += "print([m for m in ('typer', 'pydantic', 'rich', 'fastapi') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]"

    def test_what_needs_no_server_loads_no_web_framework(self) -> None:
        code = "import sys; import headgate.entrypoints.cli.mcp; "
        code += "print([m for m in ('fastapi', 'alembic') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]"

    def test_every_command_explains_itself(self, capsys: pytest.CaptureFixture[str]) -> None:
        for name in COMMANDS:
            assert run([name, "--help"]) == 0, name
            assert "Usage" in capsys.readouterr().out, name

    def test_doctor_names_what_is_no_setting_and_that_nobody_can_sign_in(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_SERVER__AUTOLOGIN", "false")
        monkeypatch.setenv("HEADGATE_HTTP", "{}")
        said = {one["what"]: one for one in answered(capsys, "doctor")["findings"]}
        assert said["settings"]["detail"].startswith("HEADGATE_SERVER__AUTOLOGIN is not a Headgate setting")
        assert said["settings"]["remedy"] == "Did you mean HEADGATE_SERVER__AUTO_LOGIN?"
        assert "people" not in said
        answered(capsys, "users", "list")
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "false")
        said = {one["what"]: one for one in answered(capsys, "doctor")["findings"]}
        assert "users create" in said["people"]["remedy"]

    def test_every_answer_can_be_json(self) -> None:
        page = command_line_page()
        sections = [part for part in page.split("\n#") if "`headgate " in part.split("\n")[0] and "| `" in part]
        assert sections
        without = {section.split("`")[1] for section in sections if "`--json`" not in section}
        assert without == {"headgate worker", "headgate up", "headgate mcp serve", "headgate runs export"}, (
            "only what stays and answers nothing has none, and a file of CSV or JSON Lines"
        )

    def test_serve_refuses_an_open_door(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["serve", "--host", "0.0.0.0", "--port", "0"]) == 3
        assert "--insecure" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("public_url", "told"),
        [("", "HEADGATE_SERVER__PUBLIC_URL"), ("http://headgate.example.org", "unencrypted")],
    )
    def test_serve_and_up_refuse_sign_in_that_others_could_read(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, public_url: str, told: str
    ) -> None:
        monkeypatch.setenv("HEADGATE_SERVER__HOST", "0.0.0.0")
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "false")
        monkeypatch.setenv("HEADGATE_SERVER__PUBLIC_URL", public_url)
        for command in (["serve", "--port", "0"], ["up", "--port", "0"]):
            assert run(command) == 3
            assert told in " ".join(capsys.readouterr().err.split())
        assert run(["doctor", "--json"]) == 5
        found = {one["what"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
        assert found["sign-in"]["good"] is False
        assert "sign-in required" in found["sign-in"]["detail"]
