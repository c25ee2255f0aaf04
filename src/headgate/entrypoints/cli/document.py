"""Writes the reference page of the command line from the commands themselves."""

from typing import Any

import typer

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.app import COMMANDS, root

_HEAD = """# Command line

This page is generated from the commands (`make docs`). With `--json`, every command prints one JSON value.
"""


def command_line_page() -> str:
    """The page as Markdown."""
    group: Any = typer.main.get_command(root)
    sections = [_HEAD, "## Exit codes\n\n" + _exit_codes()]
    sections += [_section(group.get_command(None, name), f"headgate {name}", level=2) for name in COMMANDS]
    return "\n".join(section.rstrip() + "\n" for section in sections)


def _section(command: Any, name: str, *, level: int) -> str:  # noqa: ANN401 - Typer's own type is private
    inner = getattr(command, "commands", None)
    head = f"{'#' * level} `{name}`\n\n{_first_paragraph(command.help or '')}\n"
    if inner:
        return (
            head
            + "\n"
            + "\n".join(
                _section(inner[command_name], f"{name} {command_name}", level=level + 1) for command_name in inner
            )
        )
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if not rows:
        return head
    return head + "\n| | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _row(parameter: Any) -> str:  # noqa: ANN401 - Typer's own type is private
    is_option = parameter.param_type_name == "option"
    shown = ", ".join(parameter.opts) if is_option else parameter.name.upper()
    help_ = getattr(parameter, "help", "") or ""
    default = "" if parameter.default in (None, False, "", []) or callable(parameter.default) else parameter.default
    optional = "" if parameter.required or is_option else " Optional."
    with_default = f" Default: `{default}`." if default not in ("", None) and is_option else ""
    return f"| `{shown}` | {help_}{optional}{with_default} |".replace("\n", " ")


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())


def _exit_codes() -> str:
    lines = (exit_codes.__doc__ or "").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))
