"""`headgate triggers links`: one-time links to the form of a trigger."""

from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.triggers.forms import links
from headgate.features.triggers.schemas import FormLinksIn
from headgate.foundation.checked import checked

app = typer.Typer(add_completion=False, no_args_is_help=True, help="One-time links to the form of a trigger.")
TriggerId = Annotated[str, typer.Argument(help="Id of the trigger.")]


@app.command()
def add(
    trigger: TriggerId,
    count: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 1,
    label: Annotated[str, typer.Option(help="For whom they are.")] = "",
    expires: Annotated[datetime | None, typer.Option(help="When they expire, in local time.")] = None,
    json: JsonFlag = False,
) -> None:
    """Create one-time links to a form. Their addresses are shown once."""

    async def work(installation: Installation) -> None:
        expires_at = None if expires is None else expires.astimezone()
        body = checked(FormLinksIn, count=count, label=label, expires_at=expires_at)
        async with installation.database.writing() as session:
            made = await links.add_links(session, acting(), trigger, body)
        if json:
            print_json(made)
        else:
            console.print(table(("id", "address, shown once"), [(link.id, link.path) for link in made]))

    with_installation(work)


@app.command("list")
def list_(
    trigger: TriggerId,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List the one-time links of a form, newest first, with the run of each that was used."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            rows = await links.list_links(session, acting(), trigger, limit=limit)
        cells = [(row.id, escape(row.label), row.state, when(row.expires_at), row.run_id or "") for row in rows]
        print_rows(rows, ("id", "label", "state", "expires", "run"), cells, json=json, none="No links.")

    with_installation(work)


@app.command()
def revoke(
    trigger: TriggerId, link: Annotated[str, typer.Argument(help="Id of the link.")], json: JsonFlag = False
) -> None:
    """Revoke an unused one-time link."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            revoked = await links.revoke_link(session, acting(), trigger, link)
        if json:
            print_json(revoked)
        else:
            console.print("Revoked.")

    with_installation(work)
