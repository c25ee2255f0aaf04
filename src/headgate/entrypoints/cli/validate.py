"""`headgate validate`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import INVALID
from headgate.entrypoints.cli.output import JsonFlag, console, print_json
from headgate.entrypoints.cli.transfer import read_text
from headgate.features.catalog.installed import full_registry
from headgate.features.flows.rules import code_issues, document_issues
from headgate.features.flows.transfer import import_flow
from headgate.graph.draw import draw
from headgate.graph.issues import FlowInvalid, Issue
from headgate.graph.model import Flow
from headgate.graph.spec import located
from headgate.graph.spec_read import read_flow
from headgate.graph.template import Catalog
from headgate.graph.validate import check_runnable

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    path: Annotated[str, typer.Argument(help="Flow file, or - for standard input.")], json: JsonFlag = False
) -> int:
    """Check a flow file without storing or running it. Exit code 3 when it has faults."""
    registry = full_registry()
    flow, issues = check_text(read_text(path), registry)
    if json:
        print_json({"valid": not issues, "issues": [issue.as_json() for issue in issues]})
        return INVALID if issues else 0
    for issue in issues:
        console.print(f"[red]✗[/] {escape(str(issue))}")
        if issue.remedy:
            console.print(f"  [dim]{escape(issue.remedy)}[/]")
    if flow is not None and not issues:
        console.print(draw(flow, registry), markup=False)
        console.print(
            f"[green]✓[/] {escape(flow.name)}: {len(flow.nodes)} nodes, {len(flow.edges)} edges, ready to run."
        )
    return INVALID if issues else 0


def check_text(text: str, catalog: Catalog) -> tuple[Flow | None, list[Issue]]:
    """The flow of a file, when it can be read, and everything that keeps it from running, with lines where it has any.

    Raises `Invalid` when it is JSON, and not a flow.
    """
    try:
        flow = import_flow(text, catalog)
    except FlowInvalid as error:
        return None, list(error.issues)
    issues = [*check_runnable(flow, catalog), *code_issues(flow), *document_issues(flow)]
    if issues and not text.lstrip().startswith("{"):
        spec = read_flow(text)
        issues = sorted((located(issue, spec) for issue in issues), key=lambda issue: issue.line)
    return flow, issues
