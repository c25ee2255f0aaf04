"""The first admin, people and tenants, made as a terminal makes them."""

import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.support.cli import answered

HEADGATE = Path(sys.executable).with_name("headgate")
PASSWORD = "correct horse battery"
ANNA = "anna@example.org"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("HEADGATE_TENANT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestUsers:
    def test_are_added_with_a_password_from_standard_input(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
        made = answered(capsys, "users", "create", "Anna@Example.org", "--admin", "--password-stdin")
        assert (made["email"], made["role"], made["can_sign_in"]) == (ANNA, "admin", True)
        (local, anna) = answered(capsys, "users", "list")
        assert local["email"] is None
        assert anna["id"] == made["id"]
        assert [one["id"] for one in answered(capsys, "users", "list", "--search", "ANNA")] == [made["id"]]
        assert answered(capsys, "users", "create", ANNA, "--link", code=6)["code"] == "email_taken"

    def test_of_a_service_account_has_keys_roles_and_no_sign_in(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "users", "create-service", "nightly")
        assert (made["kind"], made["email"], made["can_sign_in"]) == ("service", None, False)
        key = answered(capsys, "keys", "create", "cron", "--user", "nightly", "--scope", "runner")
        assert key["user"]["id"] == made["id"]
        answered(capsys, "spaces", "add-member", "Personal", "nightly", "--role", "runner")
        refused = answered(capsys, "users", "reset", "nightly", code=6)
        assert refused["code"] == "service_account_refused"
        assert answered(capsys, "users", "rename", "nightly", "importer")["name"] == "importer"
        assert answered(capsys, "users", "deactivate", "importer")["active"] is False
        assert answered(capsys, "users", "delete", "importer", "--yes")["deleted"] is True

    def test_are_asked_for_a_password_twice_without_an_echo(self, data_folder: Path) -> None:
        def typed(*lines: str) -> tuple[int, str]:
            terminal, ours = pty.openpty()
            command = [str(HEADGATE), "users", "create", ANNA, "--admin"]
            with subprocess.Popen(
                command, stdin=ours, stdout=ours, stderr=ours, start_new_session=True, close_fds=True
            ) as process:
                os.close(ours)
                shown = b""
                for line in lines:
                    while b": " not in shown.rpartition(b"\n")[2]:
                        shown += os.read(terminal, 1024)
                    shown += b"\n"
                    os.write(terminal, f"{line}\n".encode())
                try:
                    while more := os.read(terminal, 1024):
                        shown += more
                except OSError:
                    pass  # the other side has closed
                code = process.wait(60)
            os.close(terminal)
            return code, shown.decode()

        code, shown = typed(PASSWORD, "something else")
        assert (code, "do not match" in shown) == (3, True), shown
        code, shown = typed(PASSWORD, PASSWORD)
        assert (code, f"Added {ANNA} as admin." in shown) == (0, True), shown
        assert PASSWORD not in shown

    def test_are_told_that_their_password_is_easy_to_guess(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("password1234\n"))
        assert run(["users", "create", ANNA, "--admin", "--password-stdin"]) == 3
        assert "guess" in capsys.readouterr().err

    def test_are_told_what_is_wrong_with_an_address(self, capsys: pytest.CaptureFixture[str]) -> None:
        for address in ("anna", "anna@", "an na@example.org", ""):
            assert run(["users", "create", address, "--link"]) == 3
            assert "email: not a valid e-mail address such as anna@example.org." in capsys.readouterr().err
        assert run(["users", "reset", "a" * 5000]) == 4
        said = capsys.readouterr().err
        assert "headgate users list" in said
        assert len(said) < 500

    def test_choose_the_password_by_a_link_or_have_one_and_never_both(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["users", "create", ANNA, "--link", "--password-stdin"]) == 3
        assert "one of them" in capsys.readouterr().err

    def test_that_nobody_is_like_are_said_to_be_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["users", "list", "--search", "zed"]) == 0
        assert "No user matches" in capsys.readouterr().out

    def test_may_have_names_that_look_like_styles(self, capsys: pytest.CaptureFixture[str]) -> None:
        answered(capsys, "users", "create", ANNA, "--link", "--name", "[/red] Anna [bold]")
        for command in (
            ["users", "list"],
            ["audit", "list"],
            ["spaces", "list"],
            ["spaces", "members", "[/red] Anna [bold]"],
        ):
            assert run(command) == 0, command
            assert "[/red] Anna [bold]" in capsys.readouterr().out, command

    def test_get_a_link_that_is_shown_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "users", "create", ANNA, "--link")
        assert made["can_sign_in"] is False
        assert made["link"]["url"].startswith("http://127.0.0.1:7411/set-password#token=")
        again = answered(capsys, "users", "reset", ANNA)
        assert again["link"]["url"] != made["link"]["url"]
        assert run(["users", "reset", ANNA]) == 0
        assert "/set-password#token=" in capsys.readouterr().out

    def test_are_shut_out_let_in_and_given_roles(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for email in (ANNA, "bo@example.org"):
            monkeypatch.setattr(sys, "stdin", io.StringIO(PASSWORD))
            answered(capsys, "users", "create", email, "--password-stdin")
        assert answered(capsys, "users", "role", ANNA, "admin")["role"] == "admin"
        assert answered(capsys, "users", "deactivate", ANNA, code=6)["code"] == "last_admin"
        assert answered(capsys, "users", "role", "bo@example.org", "admin")["role"] == "admin"
        assert answered(capsys, "users", "deactivate", ANNA)["active"] is False
        assert answered(capsys, "users", "activate", ANNA)["active"] is True
        assert answered(capsys, "users", "role", "nobody@example.org", "admin", code=4)["code"] == "user_not_found"

    def test_need_somebody_to_type_the_password(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(""))
        assert "--link" in answered(capsys, "users", "create", ANNA, code=3)["remedy"]
        assert answered(capsys, "users", "create", "no-address", "--link", code=3)["code"] == "invalid"
        assert len(answered(capsys, "users", "list")) == 1

    def test_are_signed_out_and_lose_their_second_factor(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
        made = answered(capsys, "users", "create", ANNA, "--password-stdin")
        assert answered(capsys, "users", "sign-out", ANNA) == {"id": made["id"], "ended": 0}
        assert answered(capsys, "users", "reset-second-factor", ANNA)["id"] == made["id"]
        assert answered(capsys, "users", "sign-out", "nobody@example.org", code=4)["code"] == "user_not_found"
        actions = [one["action"] for one in answered(capsys, "audit", "list")]
        assert "user.second_factor_reset" in actions


class TestServe:
    def served(self) -> str:
        """What a server that lets nobody in without signing in says on standard error."""
        found = ""
        environment = {**os.environ, "HEADGATE_SERVER__AUTO_LOGIN": "false"}
        with subprocess.Popen(
            [str(HEADGATE), "serve", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        ) as server:
            assert server.stdout is not None
            assert "url" in json.loads(server.stdout.readline())
            server.send_signal(signal.SIGINT)
            _, found = server.communicate(timeout=60)
        return found

    def test_says_how_to_make_the_first_admin_until_there_is_one(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert "headgate users create" in self.served()
        monkeypatch.setattr(sys, "stdin", io.StringIO(PASSWORD))
        answered(capsys, "users", "create", ANNA, "--admin", "--password-stdin")
        assert "headgate users create" not in self.served()


class TestTenants:
    def test_are_made_and_listed(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "tenants", "create", "Other town")
        assert [(one["name"], one["people"]) for one in answered(capsys, "tenants", "list")] == [
            ("Default", 0),
            ("Other town", 0),
        ]
        answered(capsys, "users", "create", ANNA, "--link", "--tenant", "Other town")
        assert [one["people"] for one in answered(capsys, "tenants", "list")] == [0, 1]
        assert answered(capsys, "tenants", "create", "other TOWN", code=6)["code"] == "tenant_name_taken"
        assert made["name"] == "Other town"

    def test_are_renamed(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "tenants", "create", "Other town")
        assert answered(capsys, "tenants", "rename", "default", " Our town ")["name"] == "Our town"
        assert answered(capsys, "tenants", "rename", made["id"], "OTHER TOWN")["name"] == "OTHER TOWN"
        assert [one["name"] for one in answered(capsys, "tenants", "list")] == ["Our town", "OTHER TOWN"]
        assert answered(capsys, "tenants", "rename", "Other town", "our town", code=6)["code"] == "tenant_name_taken"
        assert answered(capsys, "tenants", "rename", "Default", "Mine", code=4)["code"] == "tenant_not_found"
        (entry,) = answered(capsys, "audit", "list", "--action", "tenant.renamed")
        assert entry["resource"]["name"] == "Our town"
        assert answered(capsys, "audit", "verify")["verified"]

    def test_are_chosen_by_option_and_environment(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = answered(capsys, "tenants", "create", "Other town")
        (data_folder / "echo.flow").write_text("name: Theirs\nnodes:\n  heard: ChatInput\n")
        flow = answered(capsys, "--tenant", "other town", "import", "echo.flow")
        assert answered(capsys, "flows", "list") == []
        assert [one["id"] for one in answered(capsys, "--tenant", made["id"], "flows", "list")] == [flow["id"]]
        monkeypatch.setenv("HEADGATE_TENANT", "Other town")
        assert [one["id"] for one in answered(capsys, "flows", "list")] == [flow["id"]]
        monkeypatch.setenv("HEADGATE_TENANT", "No such")
        assert answered(capsys, "flows", "list", code=4)["code"] == "tenant_not_found"
        assert len(answered(capsys, "tenants", "list")) == 2
