"""`headgate spaces`."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.prompt import Confirm
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.entrypoints.cli.output import JsonFlag, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation, require_named, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.access.permissions import Role
from headgate.features.accounts.spaces import members as memberships
from headgate.features.accounts.spaces import service
from headgate.features.accounts.spaces.schemas import MemberOut, SpaceIn, SpaceOut
from headgate.features.accounts.tables import Space, User
from headgate.features.accounts.users.service import get_user, get_user_named
from headgate.foundation.checked import checked
from headgate.foundation.ids import is_id

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Spaces for flows, and the roles of their members.")
SpaceArgument = Annotated[str, typer.Argument(metavar="SPACE", help="Id or name of the space.")]
PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address, service account or id.")]
_MOST = 1000


@app.command("list")
@on_installation
async def list_(installation: Installation, json: JsonFlag = False) -> None:
    """List spaces, oldest first."""
    async with installation.database.reading() as session:
        shown = [SpaceOut.of(space) for space in await service.list_spaces(session, acting(), limit=_MOST)]
    print_rows(
        shown,
        ("id", "name", "made"),
        [(space.id, escape(space.name), when(space.created_at)) for space in shown],
        json=json,
    )


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Name of the space.")],
    owner: Annotated[
        str, typer.Option("--owner", metavar="PERSON", help="Owner. Default with auto-login: the local user.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """Create a space."""
    require_named(owner, "--owner")
    space_in = checked(SpaceIn, name=name)

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            owner_id = (await _user(session, owner)).id if owner else None
            made = await service.create_space(session, acting(), name=space_in.name, owner_user_id=owner_id)
            shown = SpaceOut.of(made)
        print_result(shown, f"Created the space {escape(shown.name)}, {shown.id}.", json=json)

    with_installation(work)


@app.command()
@on_installation
async def rename(
    installation: Installation,
    which: SpaceArgument,
    name: Annotated[str, typer.Argument(help="Its new name.")],
    json: JsonFlag = False,
) -> None:
    """Rename a space."""
    space_in = checked(SpaceIn, name=name)
    async with installation.database.writing() as session:
        space = await _space(session, which)
        shown = SpaceOut.of(await service.rename_space(session, acting(), space.id, name=space_in.name))
    print_result(shown, f"Renamed to {escape(shown.name)}.", json=json)


@app.command()
@on_installation
async def delete(
    installation: Installation,
    which: SpaceArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    json: JsonFlag = False,
) -> None:
    """Delete a space that never had a flow, with its assistants and MCP servers."""
    async with installation.database.writing() as session:
        space = await _space(session, which)
        space_id, name = space.id, space.name
        if not yes and not json and not Confirm.ask(f"Delete {escape(name)}?", default=False):
            raise typer.Abort
        await service.delete_space(session, acting(), space_id)
    print_result({"deleted": space_id}, f"Deleted {escape(name)}.", json=json)


@app.command()
@on_installation
async def members(installation: Installation, which: SpaceArgument, json: JsonFlag = False) -> None:
    """List the members of a space and their roles."""
    async with installation.database.reading() as session:
        space = await _space(session, which)
        rows = await memberships.list_members(session, acting(), space.id, limit=_MOST)
    shown = [MemberOut.model_validate(row) for row in rows]
    print_rows(
        shown,
        ("e-mail", "name", "role", "state"),
        [
            (member.email or "", escape(member.name), member.role, "" if member.active else "shut out")
            for member in shown
        ],
        json=json,
    )


@app.command("add-member")
@on_installation
async def add_member(
    installation: Installation,
    which: SpaceArgument,
    who: PersonArgument,
    role: Annotated[Role, typer.Option(help="Role in the space.")] = Role.VIEWER,
    json: JsonFlag = False,
) -> None:
    """Add a user to a space, or change the role of a member."""
    async with installation.database.writing() as session:
        space, person = await _space(session, which), await _user(session, who)
        made = await memberships.put_member(session, acting(), space.id, person.id, role=role)
        shown, name = MemberOut.model_validate(made), space.name
    print_result(shown, f"{escape(shown.name)} is {shown.role} in {escape(name)}.", json=json)


@app.command("remove-member")
@on_installation
async def remove_member(
    installation: Installation, which: SpaceArgument, who: PersonArgument, json: JsonFlag = False
) -> None:
    """Remove a user from a space."""
    async with installation.database.writing() as session:
        space, person = await _space(session, which), await _user(session, who)
        name, user_id = space.name, person.id
        await memberships.remove_member(session, acting(), space.id, user_id)
    print_result({"removed": user_id}, f"{escape(who)} was removed from {escape(name)}.", json=json)


async def _space(session: AsyncSession, which: str) -> Space:
    if is_id(which):
        return await service.get_space(session, acting(), which)
    return await service.get_space_named(session, acting(), which)


async def _user(session: AsyncSession, who: str) -> User:
    return await (get_user if is_id(who) else get_user_named)(session, acting(), who)
