"""`headgate tenants`."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from pydantic import BaseModel, Field
from rich.markup import escape

from headgate.entrypoints.cli.chosen import TENANT
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows
from headgate.entrypoints.cli.session import operator, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.accounts.tenants import service
from headgate.foundation.checked import checked
from headgate.foundation.names import Name
from headgate.foundation.settings import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Organisations that share this installation, isolated from each other.",
)


class _Wanted(BaseModel):
    name: Annotated[Name, Field(max_length=200)]


@app.command()
def create(name: Annotated[str, typer.Argument(help="Name of the tenant.")], json: JsonFlag = False) -> None:
    """Create a tenant. Nobody can sign in until its first administrator has been created."""
    checked_name = checked(_Wanted, name=name).name

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            made = await service.create_tenant(session, operator(), name=checked_name)
        if json:
            print_json({"id": made.id, "name": made.name})
        else:
            console.print(f"Created the tenant {made.name} ({made.id}).", markup=False)
            console.print(
                f'Create its first administrator: headgate users create EMAIL --admin --tenant "{made.name}"',
                markup=False,
            )

    _with_parts(work)


@app.command()
def rename(
    which: Annotated[
        str, typer.Argument(metavar="TENANT", help="Name or id of the tenant. The first is named Default.")
    ],
    name: Annotated[str, typer.Argument(help="Its new name.")],
    json: JsonFlag = False,
) -> None:
    """Rename a tenant. Users see its name when they set their password."""
    checked_name = checked(_Wanted, name=name).name

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            tenant = await service.rename_tenant(session, operator(), tenant=which, name=checked_name)
        print_result({"id": tenant.id, "name": tenant.name}, f"Renamed to {tenant.name}.", json=json, markup=False)

    _with_parts(work)


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List tenants and their number of users."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            rows = await service.list_tenants(session)
        print_rows(
            [{"id": tenant.id, "name": tenant.name, "people": people} for tenant, people in rows],
            ("name", "id", "people", "made"),
            [(escape(tenant.name), tenant.id, people, tenant.created_at) for tenant, people in rows],
            json=json,
        )

    _with_parts(work)


def _with_parts(work: Callable[[Installation], Awaitable[None]]) -> None:
    """Open the installation independent of the configured tenant, which may not exist yet."""
    TENANT.set("")
    with_installation(work, Settings().model_copy(update={"tenant": ""}))
