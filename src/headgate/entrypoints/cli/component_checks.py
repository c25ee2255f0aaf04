"""What `headgate components check` and `headgate flows check-code` print."""

from rich.markup import escape

from headgate.entrypoints.cli.output import console
from headgate.features.catalog.own.schemas import ComponentCheckOut


def show_check(found: ComponentCheckOut, name: str) -> None:
    """What a check found: what the component is and may reach, or each fault with its line."""
    if not found.ok or found.template is None or found.manifest is None:
        for one in found.findings:
            where = f"line {one['line']}: " if one.get("line") else ""
            console.print(f"[red]✗[/] {escape(name)}: {where}{escape(str(one.get('message', '')))}")
            if one.get("remedy"):
                console.print(f"  [dim]{escape(str(one['remedy']))}[/]")
        return
    inputs = ", ".join(field.name for field in found.template.fields) or "none"
    outputs = ", ".join(f"{one.name} ({one.type})" for one in found.template.outputs)
    console.print(
        f"[green]✓[/] {escape(name)}: [bold]{found.type}[/]  inputs: {escape(inputs)}  outputs: {escape(outputs)}"
    )
    console.print(f"  may reach: {escape(_reach(found))}")
    if found.note:
        console.print(f"  [dim]{escape(found.note)}[/]")


def _reach(found: ComponentCheckOut) -> str:
    manifest = found.manifest
    if manifest is None:
        return "nothing"
    hosts = [f"the hosts {', '.join(manifest.hosts)}"] if manifest.hosts else []
    files = ["files of the run"] if manifest.files else []
    return " and ".join([*hosts, *files]) or "nothing outside the sandbox"
