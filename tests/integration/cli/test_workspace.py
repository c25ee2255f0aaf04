"""`headgate workspace`, called as a terminal calls it, on a real data folder."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.features.access.principal import LOCAL
from headgate.features.workspace.places import owner_of
from tests.support.cli import answered
from tests.support.workspaces import everything, home


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.md").write_bytes("# Pl\u00e4n\n".encode())
    return tmp_path / "data"


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command writes, errors included."""
    capsys.readouterr()
    assert run(["workspace", *arguments]) == code
    found = capsys.readouterr()
    return found.out + found.err


class TestWorkspace:
    def test_writes_lists_reads_and_removes_files(
        self, capsys: pytest.CaptureFixture[str], data_folder: Path, tmp_path: Path
    ) -> None:
        assert "notes/plan.md, 8 bytes" in said(capsys, "write", "notes/plan.md", "plan.md")
        assert everything(home(data_folder / "workspace", owner_of(LOCAL))) == ["notes/plan.md"]
        (listed,) = answered(capsys, "workspace", "list")
        assert (listed["path"], listed["size_bytes"]) == ("notes/plan.md", 8)
        assert "notes/plan.md" in said(capsys, "list")
        assert said(capsys, "read", "notes/plan.md") == "# Plän\n"
        said(capsys, "read", "notes/plan.md", "-o", "copy.md")
        assert (tmp_path / "copy.md").read_bytes() == (tmp_path / "plan.md").read_bytes()
        said(capsys, "remove", "notes/plan.md")
        assert "No files yet" in said(capsys, "list")

    def test_answers_programs(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        wrote = answered(capsys, "workspace", "write", "a.md", "plan.md")
        assert (wrote["path"], wrote["size_bytes"]) == ("a.md", 8)
        assert answered(capsys, "workspace", "read", "a.md") == {**wrote, "text": "# Pl\u00e4n\n"}
        copied = answered(capsys, "workspace", "read", "a.md", "-o", "copy.md")
        assert copied == {"path": "a.md", "size_bytes": 8, "written_to": "copy.md"}
        assert answered(capsys, "workspace", "remove", "a.md") == {"deleted": "a.md"}
        assert everything(data_folder / "workspace") == []

    def test_has_the_files_of_flows_too(self, capsys: pytest.CaptureFixture[str], data_folder: Path) -> None:
        said(capsys, "write", "a.md", "plan.md", "--flows")
        assert everything(data_folder / "workspace") == ["shared/a.md"]
        assert answered(capsys, "workspace", "list") == []
        assert [one["path"] for one in answered(capsys, "workspace", "list", "--flows")] == ["a.md"]

    def test_says_what_cannot_be_done(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "b.bin").write_bytes(b"\xff\xfe")
        assert "File not found: missing.md" in said(capsys, "read", "missing.md", code=4)
        assert "escapes workspace boundary" in said(capsys, "write", "../x", "plan.md", code=5)
        assert "cannot be read" in said(capsys, "write", "a.md", "nowhere.md", code=3)
        assert "not UTF-8 text" in said(capsys, "write", "a.md", "b.bin", code=3)

    def test_is_somebodys_where_people_sign_in(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answered(capsys, "users", "create", "ana@example.org", "--link")
        monkeypatch.setenv("HEADGATE_SERVER__AUTO_LOGIN", "false")
        assert "--user EMAIL" in said(capsys, "list", code=3)
        said(capsys, "write", "a.md", "plan.md", "--user", "ana@example.org")
        assert [one["path"] for one in answered(capsys, "workspace", "list", "--user", "ana@example.org")] == ["a.md"]
        assert "nobody@example.org" in said(capsys, "list", "--user", "nobody@example.org", code=4)
