"""`headgate validate`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from sqlalchemy.engine import make_url

from headgate.entrypoints.cli.exit_codes import INVALID
from headgate.entrypoints.cli.output import JsonFlag, console, print_issues, print_json
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.cli.transfer import read_text
from headgate.entrypoints.installation import Installation
from headgate.features.catalog.installed import full_registry
from headgate.features.flows.readiness.answer import Need, Readiness
from headgate.features.flows.readiness.check import check
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.transfer import import_flow, triggers_in
from headgate.features.triggers.transfer import read_triggers
from headgate.foundation.settings import Settings
from headgate.graph.draw import draw
from headgate.graph.issues import FlowInvalid, Issue
from headgate.graph.model import Flow
from headgate.graph.spec import located
from headgate.graph.spec_read import SpecFlow, read_flow
from headgate.graph.template import Catalog

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    path: Annotated[str, typer.Argument(help="Flow file, or - for standard input.")], json: JsonFlag = False
) -> int:
    """Check a flow file without storing or running it. Exit code 3 if it has errors.

    Variables, models, MCP servers and shared assistants are looked up in the installation of this machine, when there
    is one; otherwise they are listed as needs.
    """
    registry, environment = full_registry(), _environment()
    flow, readiness = check_text(read_text(path), registry, environment)
    if json:
        answer = readiness.as_json()
        print_json(
            {
                "valid": readiness.ready,
                "issues": answer["issues"],
                "needs": answer["needs"],
                "installation": environment is not None,
            }
        )
        return 0 if readiness.ready else INVALID
    print_issues(readiness.issues)
    if flow is not None and readiness.ready:
        console.print(draw(flow, registry), markup=False)
        size = f"{escape(flow.name)}: {len(flow.nodes)} nodes, {len(flow.edges)} edges"
        unknown = [_named(need) for need in readiness.needs if _is_open(need.kind)]
        if environment is None and unknown:
            console.print(f"[green]✓[/] {size}, valid. Without an installation, these were not checked:")
            console.print(f"  {escape(', '.join(unknown))}")
        else:
            console.print(f"[green]✓[/] {size}, ready to run.")
    return 0 if readiness.ready else INVALID


def check_text(text: str, catalog: Catalog, environment: Environment | None = None) -> tuple[Flow | None, Readiness]:
    """Return the flow of a file, if it can be parsed, and its readiness, with line numbers.

    Raises `Invalid` when it is JSON, and not a flow.
    """
    try:
        flow = import_flow(text, catalog)
        read_triggers(triggers_in(text))
    except FlowInvalid as error:
        return None, Readiness(error.issues)
    readiness = check(flow, catalog, environment)
    if readiness.issues and not text.lstrip().startswith("{"):
        spec = read_flow(text, with_triggers=True)
        readiness = Readiness(_located(readiness.errors, spec), _located(readiness.warnings, spec), readiness.needs)
    return flow, readiness


def _located(issues: tuple[Issue, ...], spec: SpecFlow) -> tuple[Issue, ...]:
    return tuple(sorted((located(issue, spec) for issue in issues), key=lambda issue: issue.line))


def _named(need: Need) -> str:
    name = need.name or ("for steps without one" if need.kind == "model" else "")
    return f"{need.kind.replace('_', ' ')} {name}".strip()


def _is_open(kind: str) -> bool:
    """Whether an existing installation can be detected."""
    return kind not in {"host", "file"}


def _environment() -> Environment | None:
    """Return the environment of this machine's installation for the command's space; None without an installation."""
    settings = Settings()
    address = make_url(settings.database_url)
    if address.get_backend_name() == "sqlite" and not Path(address.database or "").is_file():
        return None

    async def read(installation: Installation) -> Environment:
        return await installation.rules.environment(acting().tenant_id, acting().space_id)

    return with_installation(read, settings)
