"""Tables of a narrow terminal."""

import os
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console

from headgate.entrypoints.cli import output
from headgate.entrypoints.cli.output import table


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Console:
    console = Console(file=StringIO(), width=80, highlight=False)
    monkeypatch.setattr(output, "console", console)
    return console


def lines(console: Console) -> list[str]:
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


class TestTable:
    def test_folds_the_widest_columns_alone(self, shown: Console) -> None:
        told = "space.member_added Permits: name Bo Ek, role editor"
        shown.print(table(("entry", "when", "who", "what"), [(7, "2026-11-21 23:57", "anna@example.org", told)]))
        _head, first, second = lines(shown)
        assert first.startswith("7      2026-11-21 23:57  anna@example.org  space.member_added Permits: name Bo")
        assert second.strip() == "Ek, role editor"

    def test_loses_nothing_where_there_is_no_room(self, shown: Console) -> None:
        row = ["0" * 36, "1" * 30, "2" * 30, "3" * 30]
        shown.print(table(("a", "b", "c", "d"), [row]))
        text = "".join(lines(shown))
        assert [text.count(one[0]) for one in row] == [36, 30, 30, 30]

    def test_of_nothing_is_its_head(self, shown: Console) -> None:
        shown.print(table(("name", "made"), []))
        assert lines(shown) == ["name  made"]

    def test_is_a_block_a_row_where_its_columns_would_be_unreadable(self, shown: Console) -> None:
        shown.width = 40
        rows = [("0" * 36, "waits", "Greet people", "2026-11-22 15:27", ""), ("1" * 36, "done", "x", "", "y")]
        shown.print(table(("id", "state", "wanted", "changed", ""), rows))
        assert lines(shown) == [
            *("0" * 36, "  state waits", "  wanted Greet people", "  changed 2026-11-22 15:27"),
            *("1" * 36, "  state done", "  wanted x", "  y"),
        ]


class TestReaderWhoHasSeenEnough:
    def test_ends_no_command_as_failed(self) -> None:
        """`headgate components list | head -1`."""
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "headgate", "components", "list"]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, text=True)
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, "")
