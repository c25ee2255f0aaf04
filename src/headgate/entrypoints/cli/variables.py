"""`headgate variables`."""

import sys
from typing import Annotated

import typer
from pydantic import SecretStr
from rich.prompt import Prompt

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation, with_writing
from headgate.entrypoints.installation import Installation
from headgate.features.accounts.spaces import service as spaces
from headgate.features.secrets import service

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Store keys and other variables, encrypted.")
Name = Annotated[str, typer.Argument(help="Name, for example OPENAI_API_KEY.")]
Shared = Annotated[
    bool, typer.Option("--organisation", help="For the flows of all spaces, not only your space (--space).")
]


@app.command("set")
def set_(
    name: Name,
    host: Annotated[
        list[str] | None,
        typer.Option("--host", help="Host that it may be sent to, such as api.example.org. Repeatable. Default: any."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Not a secret.")] = False,
    organisation: Shared = False,
    json: JsonFlag = False,
) -> None:
    """Set a variable of your space. The value is prompted for or read from standard input; it is never an argument."""
    if sys.stdin.isatty():
        value = Prompt.ask(f"Value of {name}", password=not plain, console=console)
    else:
        value = sys.stdin.read().rstrip("\n")

    row = with_writing(
        lambda session, installation: service.set_variable(
            session,
            acting(),
            installation.box,
            name=name,
            value=SecretStr(value),
            secret=not plain,
            hosts=host or (),
            organisation=organisation,
        )
    )
    if json:
        print_json({"name": row.name, "stored": True, "hosts": row.hosts or [], "space_id": row.space_id})
    else:
        whose = "the organisation" if row.space_id is None else "your space"
        only = f", may be sent to {', '.join(row.hosts)} only" if row.hosts else ""
        console.print(f"Stored {row.name} for {whose}{only}.")


@app.command("list")
@on_installation
async def list_(installation: Installation, json: JsonFlag = False) -> None:
    """List the names of all variables of the spaces and the organisation. Values are never shown.

    A flow that names a variable gets its space's own, else the organisation's.
    """
    async with installation.database.reading() as session:
        rows = await service.list_variables(session, acting())
        places = {space.space.id: space.space.name for space in await spaces.list_spaces(session, acting(), limit=1000)}
    print_rows(
        [{"name": row.name, "space_id": row.space_id, "secret": row.secret, "hosts": row.hosts or []} for row in rows],
        ("name", "space", "kind", "only for", "set"),
        [
            (
                row.name,
                "organisation" if row.space_id is None else places.get(row.space_id, row.space_id),
                "secret" if row.secret else "plain",
                ", ".join(row.hosts or ()),
                when(row.updated_at),
            )
            for row in rows
        ],
        json=json,
        none="No variables yet. Store one: [bold]headgate variables set OPENAI_API_KEY[/]",
    )


@app.command()
def delete(name: Name, organisation: Shared = False, json: JsonFlag = False) -> None:
    """Delete a variable of your space."""
    with_writing(lambda session, _: service.delete_variable(session, acting(), name=name, organisation=organisation))
    print_result({"deleted": name}, f"Deleted {name}.", json=json)
