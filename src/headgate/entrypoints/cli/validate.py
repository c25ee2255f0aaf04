"""`headgate validate`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.components import BUILTINS
from headgate.entrypoints.cli.exit_codes import INVALID
from headgate.entrypoints.cli.output import JsonFlag, console, print_json
from headgate.entrypoints.cli.transfer import read_text
from headgate.features.catalog.registry import Registry
from headgate.features.flows.transfer import import_flow
from headgate.graph.draw import draw
from headgate.graph.issues import FlowInvalid
from headgate.graph.validate import check_runnable

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    path: Annotated[str, typer.Argument(help="Flow file, or - for standard input.")], json: JsonFlag = False
) -> int:
    """Check a flow file without storing or running it. Exit code 3 when it has faults."""
    registry = Registry(BUILTINS)
    text = read_text(path)
    try:
        flow = import_flow(text, registry)
        issues = check_runnable(flow, registry)
    except FlowInvalid as error:
        flow, issues = None, list(error.issues)
    if json:
        print_json({"valid": not issues, "issues": [issue.as_json() for issue in issues]})
        return INVALID if issues else 0
    for issue in issues:
        console.print(f"[red]✗[/] {escape(str(issue))}\n  [dim]{escape(issue.remedy)}[/]")
    if flow is not None and not issues:
        console.print(draw(flow, registry), markup=False)
        console.print(
            f"[green]✓[/] {escape(flow.name)}: {len(flow.nodes)} nodes, {len(flow.edges)} edges, ready to run."
        )
    return INVALID if issues else 0
