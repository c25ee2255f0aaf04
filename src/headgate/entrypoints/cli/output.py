"""Output of commands: tables and text for users, one JSON value for programs."""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from headgate.entrypoints.cli.harmless import HarmlessConsole
from headgate.entrypoints.cli.json_output import JsonFlag, print_json
from headgate.graph.issues import Issue

__all__ = [
    "PIPED_WIDTH",
    "JsonFlag",
    "console",
    "errors",
    "print_command",
    "print_issues",
    "print_json",
    "print_result",
    "print_rows",
    "table",
    "when",
]

_LEAST_WIDTH = 8
PIPED_WIDTH = 200
"""Columns when the output goes to a file or another program."""


class _PipedConsole(Console):
    """A console that lets the command handle a closed pipe, as from `head`."""

    def on_broken_pipe(self) -> None:
        """Rich's own would end the command as failed."""
        raise BrokenPipeError


def _console(stream: TextIO, *, stderr: bool) -> Console:
    piped = not stream.isatty()
    if piped:  # another program gets what there is
        return _PipedConsole(stderr=stderr, highlight=False, soft_wrap=True, width=PIPED_WIDTH)
    return HarmlessConsole(stderr=stderr, highlight=False)


console = _console(sys.stdout, stderr=False)
errors = _console(sys.stderr, stderr=True)


def print_command(command: str) -> None:
    """Print a command to copy, on its own line, without inserted line breaks."""
    console.print(f"  {command}", markup=False, soft_wrap=True)


def print_result(value: object, text: str, *, json: bool, markup: bool = True, soft_wrap: bool | None = None) -> None:
    """Print the result of a command: its value for a program, its text for a user."""
    if json:
        print_json(value)
    else:
        console.print(text, markup=markup, soft_wrap=soft_wrap)


def print_rows(
    values: object, columns: Sequence[str], rows: Sequence[Sequence[object]], *, json: bool, none: str = ""
) -> None:
    """Print a list: its values for a program; for a user a table, or `none` when it has no rows."""
    if json:
        print_json(values)
    elif rows or not none:
        console.print(table(columns, rows))
    else:
        console.print(none)


def print_issues(issues: Iterable[Issue]) -> None:
    """What prevents a flow from running, and warnings, each with its remedy."""
    for issue in issues:
        mark = "[red]✗[/]" if issue.severity == "error" else "[yellow]![/]"
        console.print(f"{mark} {escape(str(issue))}")
        if issue.remedy:
            console.print(f"  [dim]{escape(issue.remedy)}[/]")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> Table:
    """A plain table; the first column is emphasised. In a terminal too narrow for it a row is several lines."""
    grid = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="dim")
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [_width([column, *below]) for column, *below in zip(columns, *cells, strict=True)]
    if cells and widths[0] + sum(2 + min(width, _LEAST_WIDTH) for width in widths[1:]) > console.width:
        return _stacked(grid, columns, cells)
    unwrapped = _unwrapped_columns(widths, console.width)
    for number, column in enumerate(columns):
        grid.add_column(column, style="" if number else "bold", no_wrap=number in unwrapped, overflow="fold")
    for row in cells:
        grid.add_row(*row)
    return grid


def _stacked(grid: Table, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    """Return each row as lines below its complete first cell, which is used as an argument of other commands."""
    grid.show_header = False
    grid.add_column(overflow="fold")
    for first, *others in cells:
        grid.add_row(f"[bold]{first}[/]")
        for column, cell in zip(columns[1:], others, strict=True):
            if cell:
                grid.add_row(f"  [dim]{column}[/] {cell}" if column else f"  {cell}")
    return grid


def _width(cells: Sequence[str]) -> int:
    return max(Text.from_markup(cell).cell_len for cell in cells)


def _unwrapped_columns(widths: Sequence[int], room: int) -> set[int]:
    """Return the columns that are not wrapped: the first, then narrow ones, as long as the others have enough width."""
    unwrapped = {0}
    left = room - 2 * (len(widths) - 1) - widths[0]
    for number in sorted(range(1, len(widths)), key=widths.__getitem__):
        left -= widths[number]
        if left < _LEAST_WIDTH * (len(widths) - len(unwrapped) - 1):
            break
        unwrapped.add(number)
    return unwrapped


def when(moment: datetime | None) -> str:
    """Return a local time, to the minute."""
    return "" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _cell(value: object) -> str:
    if value is None:
        return ""
    return when(value) if isinstance(value, datetime) else str(value)
