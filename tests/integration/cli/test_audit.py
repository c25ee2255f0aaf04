"""`headgate audit`, called as a terminal calls it, on a real data folder: in the database and offline."""

import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run


class Terminal:
    """Somebody with a data folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def says(self, *arguments: str, code: int = 0) -> str:
        """What a command answers."""
        self._capsys.readouterr()
        ended = run(arguments)
        said = self._capsys.readouterr()
        assert ended == code, said
        return said.out


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return Terminal(capsys)


class TestAudit:
    def test_names_who_called_a_command(self, terminal: Terminal) -> None:
        assert json.loads(terminal.says("audit", "list", "--json")) == []
        terminal.says("spaces", "create", "Finance")
        (entry,) = json.loads(terminal.says("audit", "list", "--action", "space.created", "--json"))
        assert (entry["actor"]["kind"], entry["resource"]["name"]) == ("command", "Finance")
        assert "space.created" in terminal.says("audit", "list")

    def test_says_in_words_what_was_asked_for(self, terminal: Terminal) -> None:
        for command in (
            ["users", "create", "bo@example.org", "--link"],
            ["spaces", "create", "Permits"],
            ["spaces", "add-member", "Permits", "bo@example.org", "--role", "editor"],
            ["users", "deactivate", "bo@example.org"],
            ["keys", "create", "nightly", "--user", "bo@example.org", "--scope", "runs.start"],
        ):
            terminal.says(*command)
        said = [" ".join(line.split()) for line in terminal.says("audit", "list").splitlines()]
        for wanted in (
            "space.member_added Permits: name bo, role editor",
            "user.deactivated bo@example.org: active no",
            "api_key.created nightly: of bo@example.org, prefix hg_",
        ):
            assert any(wanted in line for line in said), (wanted, said)
        assert not any(
            made["id"] in line for made in json.loads(terminal.says("users", "list", "--json")) for line in said
        )

    def test_exports_what_verifies_offline(
        self, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("Finance", "Housing"):
            terminal.says("spaces", "create", name)
        noted = terminal.says("audit", "head").strip()
        file, key = tmp_path / "audit.jsonl", tmp_path / "headgate.pub"
        terminal.says("audit", "export", "-o", str(file))
        key.write_text(terminal.says("evidence", "key"))
        terminal.says("audit", "verify", "--noted", noted)
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "elsewhere"))
        assert noted in terminal.says("audit", "verify", str(file), "--key", str(key))
        file.write_bytes(file.read_bytes().replace(b"Housing", b"Hunting"))
        found = json.loads(terminal.says("audit", "verify", str(file), "--key", str(key), "--json", code=1))
        assert (found["verified"], len(found["faults"])) == (False, 1)
        assert not (tmp_path / "elsewhere").exists()

    def test_says_what_is_no_export(self, terminal: Terminal, tmp_path: Path) -> None:
        (tmp_path / "other.jsonl").write_text("{}\n")
        for argument, code in ((str(tmp_path / "other.jsonl"), 3), (str(tmp_path / "none.jsonl"), 4)):
            terminal.says("audit", "verify", argument, code=code)
        terminal.says("audit", "verify", "--noted", "x", code=3)

    def test_says_for_programs_what_it_exported(self, terminal: Terminal) -> None:
        terminal.says("spaces", "create", "Finance")
        told = json.loads(terminal.says("audit", "export", "-o", "audit.jsonl", "--json"))
        assert told == {"path": "audit.jsonl", "entries": 1, "last": 1}
        assert len(Path("audit.jsonl").read_text().splitlines()) == 2
        assert json.loads(terminal.says("audit", "export", "--json", code=3))["code"] == "invalid"

    def test_exports_csv_to_standard_output(self, terminal: Terminal) -> None:
        terminal.says("spaces", "create", "=1+1")
        lines = terminal.says("audit", "export", "--csv").splitlines()
        assert lines[0].startswith("seq,tenant_id,at,")
        assert any(",'=1+1," in line for line in lines)
