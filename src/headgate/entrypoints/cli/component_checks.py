"""What `headgate components check` and `headgate flows check-code` print."""

from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from headgate.entrypoints.cli.output import console
from headgate.features.catalog.own.schemas import ComponentCheckOut


def show_check(outcome: ComponentCheckOut, name: str) -> None:
    """Show the result of a check: the component and what it may access, or each error with its line."""
    if not outcome.ok or outcome.template is None or outcome.manifest is None:
        for finding in outcome.findings:
            where = f"line {finding['line']}: " if finding.get("line") else ""
            console.print(f"[red]✗[/] {escape(name)}: {where}{escape(str(finding.get('message', '')))}")
            if finding.get("remedy"):
                console.print(f"  [dim]{escape(str(finding['remedy']))}[/]")
        return
    inputs = ", ".join(field.name for field in outcome.template.fields) or "none"
    outputs = ", ".join(f"{output.name} ({output.type})" for output in outcome.template.outputs)
    console.print(
        f"[green]✓[/] {escape(name)}: [bold]{outcome.type}[/]  inputs: {escape(inputs)}  outputs: {escape(outputs)}"
    )
    secrets = [field.name for field in outcome.template.fields if field.carries_secret]
    for line in reach_lines({**outcome.manifest.model_dump(), "secrets": secrets}):
        console.print(f"  {line}", markup=False)
    if outcome.note:
        console.print(f"  [dim]{escape(outcome.note)}[/]")


def reach_lines(reach: Mapping[str, Any]) -> list[str]:
    """Return everything that a component may access, one per line."""
    hosts, secrets, imports = (", ".join(reach[name]) for name in ("hosts", "secrets", "imports"))
    return [
        f"Hosts: {hosts or 'none, no network access'}",
        f"Secrets: {f'the values of {secrets}' if secrets else 'none'}",
        f"Files: {'files of the run' if reach['files'] else 'none'}",
        f"Imports: {imports or 'none'}",
    ]
