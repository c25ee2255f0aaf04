"""Whichever command is the first on a machine, nobody else there reads what it makes. From the list of commands."""

import os
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

from headgate.entrypoints.cli.app import root
from headgate.foundation.private_files import data_folder, private_folder
from tests.support.forked import fork

FLOW = "name: Talk\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
VALUES = {"email": "a@example.org", "run_id": "01890000-0000-7000-8000-000000000000", "url": "http://127.0.0.1:9"}
SERVERS = {"serve": ("--port", "0"), "up": ("--port", "0")}
"""Commands that go on until they are stopped, with what they are started with."""


def leaves(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its words."""
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from leaves(command.get_command(context, name), *path, name)


COMMANDS = dict(leaves(get_command(root)))
EACH = 6
"""`make test` starts one of so many commands, `make test-faults` all."""


def arguments_of(command: Any, file: Path) -> list[str]:
    """Something for each argument and option that the command needs."""
    found: list[str] = []
    for parameter in (one for one in command.params if one.required):
        kind, name = parameter.type_descriptor.annotation, str(parameter.name)
        value = VALUES.get(name, "x")
        if isinstance(kind, type) and issubclass(kind, int | float):
            value = "1"
        elif isinstance(kind, type) and issubclass(kind, Enum):
            value = str(next(iter(kind)).value)
        elif kind is Path or name in {"path", "file", "flow", "source"}:
            value = str(file)
        found += [value] if parameter.param_type_name == "argument" else [parameter.opts[0], value]
    return found


def open_to_others(folder: Path) -> list[str]:
    """What is in a folder, itself included, that others have a permission on."""
    return [
        f"{path.stat().st_mode & 0o777:03o} {path.relative_to(folder.parent)}"
        for path in (folder, *folder.rglob("*"))
        if path.exists() and not path.is_symlink() and path.stat().st_mode & 0o077
    ]


class TestTheFirstCommand:
    @pytest.mark.parametrize(
        "words",
        [
            pytest.param(words, id=" ".join(words), marks=[pytest.mark.campaign] if number % EACH else [])
            for number, words in enumerate(COMMANDS)
        ],
    )
    def test_makes_nothing_that_others_read(self, words: tuple[str, ...], tmp_path: Path) -> None:
        file, data = tmp_path / "a.flow", tmp_path / "deep" / "data"
        file.write_text(FLOW)
        more = SERVERS.get(" ".join(words)) or arguments_of(COMMANDS[words], file)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "HEADGATE_DATA_DIR": str(data),
            "HEADGATE_SERVER__PORT": "0",
        }
        process = fork("headgate", *words, *more, environment=environment, stdin=True)
        if " ".join(words) in SERVERS:
            while process.poll() is None and not [*(data / "workers").glob("*.lock")]:
                time.sleep(0.05)
            process.terminate()
        process.communicate()
        if data.exists():
            assert not open_to_others(data)
            assert not open_to_others(data.parent)


class TestFolders:
    @pytest.fixture(autouse=True)
    def open_umask(self) -> Iterator[None]:
        before = os.umask(0)
        yield
        os.umask(before)

    def test_are_closed_with_their_parents(self, tmp_path: Path) -> None:
        private_folder(tmp_path / "a" / "b" / "c")
        assert not open_to_others(tmp_path / "a")

    def test_that_are_open_are_repaired(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        private_folder(tmp_path / "a")
        assert not open_to_others(tmp_path / "a")

    @pytest.mark.parametrize("name", ["headgate.db", "secret.key", "evidence.key"])
    def test_of_data_are_repaired_with_the_keys_in_them(self, tmp_path: Path, name: str) -> None:
        data = tmp_path / "data"
        data.mkdir()
        (data / name).write_text("x")
        data_folder(data)
        assert data.stat().st_mode & 0o077 == 0
        assert name == "headgate.db" or not open_to_others(data)

    def test_of_others_keep_their_mode(self, tmp_path: Path) -> None:
        shared = tmp_path / "shared"
        shared.mkdir(mode=0o755)
        (shared / "theirs.txt").write_text("x")
        data_folder(shared)
        assert shared.stat().st_mode & 0o777 == 0o755
