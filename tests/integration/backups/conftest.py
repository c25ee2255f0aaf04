"""A data folder with something of everything in it, made by commands."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.backups import sealing
from headgate.entrypoints.cli.app import run
from tests.support.cli import answered

FLOW = """name: Echo
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.message -> said.input
"""
PASSPHRASE = "a passphrase of the tests"
Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrypt at its real cost takes half a second."""
    monkeypatch.setattr(sealing.SealedWriter.__init__, "__kwdefaults__", {"cost": 4})


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Gives a command and returns its JSON."""

    def command(*words: str, code: int = 0) -> Any:
        return answered(capsys, *words, code=code)

    return command


@pytest.fixture
def passphrase_file(tmp_path: Path) -> str:
    path = tmp_path / "passphrase"
    path.write_text(PASSPHRASE + "\n")
    return str(path)


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Have commands work on a data folder."""
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(folder))
    return folder


def store_secret(monkeypatch: pytest.MonkeyPatch, value: str = "a very secret value") -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(value))
    assert run(["variables", "set", "A_KEY"]) == 0


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> Path:
    """A flow, a run with its evidence, a secret, a file, a workspace with odd names."""
    monkeypatch.chdir(tmp_path)
    folder = use(monkeypatch, tmp_path / "data")
    store_secret(monkeypatch)
    (tmp_path / "echo.flow").write_text(FLOW)
    made = ask("run", "echo.flow", "--text", "hello")
    assert made["status"] == "completed"
    ask("runs", "evidence", made["run_id"], "--output", str(tmp_path / "before.zip"))
    (tmp_path / "note.md").write_text("# A note\n")
    ask("workspace", "write", "notes/räksmörgås och mer.md", str(tmp_path / "note.md"))
    skills = folder / "skills" / "deep"
    skills.mkdir(parents=True)
    (skills / "a skill.md").write_text("do this")
    (skills / "link").symlink_to("/etc/passwd")
    return folder
