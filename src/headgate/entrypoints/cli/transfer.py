"""`headgate import` and `headgate export`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import OK, PARTLY
from headgate.entrypoints.cli.files import write_file
from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_issues, print_json
from headgate.entrypoints.cli.session import acting, on_installation, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.catalog.own.store import with_packs
from headgate.features.flows import service, transfer
from headgate.features.flows.versions import content_of
from headgate.foundation.errors import Invalid

importing = typer.Typer(add_completion=False)
exporting = typer.Typer(add_completion=False)
apps = {"import": importing, "export": exporting}
MOST_BYTES = 4_000_000


def read_text(path: str) -> str:
    """The text of a file, or of standard input for `-`. Raises `Invalid`."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if len(content) > MOST_BYTES:
            raise Invalid(f"{path} exceeds {MOST_BYTES} bytes, the limit for a flow.")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8 text.", remedy="Flows are spec text or JSON in UTF-8.") from error


@importing.command()
def import_(
    path: Annotated[str, typer.Argument(help="Flow file, or - for standard input.")], json: JsonFlag = False
) -> int:
    """Create a flow from spec text or exported JSON. Nothing is run, triggers are off. Exit code 9: it has problems."""
    text = read_text(path)

    async def work(installation: Installation) -> int:
        triggers = transfer.triggers_in(text)
        async with installation.database.writing() as session:
            definition = transfer.import_flow(text, await with_packs(session, installation.registry))
            row = await service.create_flow(session, acting(), installation.registry, definition=definition)
            notes = await installation.trigger_transfer.imported(session, acting(), row.id, triggers)
        readiness = await installation.rules.check(row.tenant_id, row.space_id, definition)
        if json:
            print_json(
                {"id": row.id, "name": row.name, "revision": row.revision, "notes": notes, **readiness.as_json()}
            )
            return OK if readiness.ready else PARTLY
        console.print(f"Created [bold]{escape(row.name)}[/] {row.id}")
        for note in notes:
            console.print(escape(note))
        print_issues(readiness.issues)
        return OK if readiness.ready else PARTLY

    return with_installation(work)


@exporting.command()
@on_installation
async def export(
    installation: Installation,
    which: FlowArgument,
    format: Annotated[  # noqa: A002
        Literal["spec", "json", "svg"],
        typer.Option(help="Spec text or JSON, with triggers, or an image."),
    ] = "spec",
    version: Annotated[int | None, typer.Option(help="A version instead of the draft.", min=1)] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file. Default: standard output.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Export a flow as spec text, JSON or an image."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        flow = await content_of(session, acting(), flow_id, version)
        catalog = await installation.registry.for_flow(acting().tenant_id, flow, session=session)
        triggers = installation.trigger_transfer
        carried = await triggers.exported(session, acting(), flow_id) if format != "svg" else []
    content = transfer.export_flow(flow, format=format, catalog=catalog, triggers=carried)
    if output is not None:
        write_file(output, content.encode())
        console.print(f"Wrote {output}") if not json else print_json({"path": str(output)})
    elif json:
        print_json({"name": flow.name, "format": format, "content": content})
    else:
        sys.stdout.write(content)
