"""`headgate directory`."""

from typing import Annotated

import typer
from rich.markup import escape
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation, with_reading, with_writing
from headgate.entrypoints.installation import Installation
from headgate.features.access.permissions import Role
from headgate.features.accounts.directory import service
from headgate.features.accounts.directory.schemas import GroupOut, TokenIn
from headgate.features.accounts.spaces.service import get_space, get_space_named
from headgate.foundation.checked import checked
from headgate.foundation.ids import is_id

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Directory (SCIM) of the organisation: token and groups."
)
_MOST = 1000
Group = Annotated[str, typer.Argument(help="Id or name of a group of the directory.")]
Space = Annotated[str, typer.Argument(help="Id or name of a space.")]


@app.command()
@on_installation
async def show(installation: Installation, json: JsonFlag = False) -> None:
    """Show the address for the identity provider, whether there is a token, and the last change."""
    server = installation.settings.server
    root = (server.public_url or f"http://{server.host}:{server.port}").rstrip("/")
    async with installation.database.reading() as session:
        directory = await service.read_directory(session, acting(), address=f"{root}/scim/v2")
    token = directory.token
    print_rows(
        directory,
        ("", "directory"),
        [
            ("address", escape(directory.address)),
            ("token", f"{token.prefix}..." if token else "none; create one: headgate directory token"),
            ("networks", ", ".join(token.networks or ["everywhere"]) if token else "-"),
            ("last used", (when(token.last_used_at) if token else "") or "never"),
            ("last change", when(directory.last_change_at) or "never"),
            ("users", str(directory.users)),
            ("groups", str(directory.groups)),
        ],
        json=json,
    )


@app.command()
def token(
    network: Annotated[
        list[str] | None,
        typer.Option(
            "--network", help="Network from which it can be used, such as 192.0.2.0/24. Repeatable. Default: any."
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Create the token for the identity provider, or replace it. The previous one stops working at once."""
    made = with_writing(
        lambda session, _: service.create_token(session, acting(), token_in=checked(TokenIn, networks=network or None))
    )
    if json:
        print_json(made.model_dump(mode="json"))
        return
    console.print("The directory has a new token. This is the only time it is shown:")
    console.print(made.token, markup=False, soft_wrap=True)


@app.command()
def disconnect(json: JsonFlag = False) -> None:
    """Revoke the token. Users, groups and their roles stay as they are."""
    with_writing(lambda session, _: service.disconnect(session, acting()))
    print_result({"token": None}, "Revoked the token. The identity provider can no longer make changes.", json=json)


@app.command()
def groups(json: JsonFlag = False) -> None:
    """List the groups of the directory and the roles that they grant in spaces."""
    rows = with_reading(lambda session, _: service.list_groups(session, acting(), limit=_MOST))
    print_rows(
        rows,
        ("id", "group", "members", "roles"),
        [(group.id, escape(group.name), str(group.members), escape(_roles(group))) for group in rows],
        json=json,
        none="No groups yet. The identity provider creates them once it is connected.",
    )


@app.command("map")
@on_installation
async def map_(
    installation: Installation,
    group: Group,
    space: Space,
    role: Annotated[Role, typer.Argument(help="Role of the group's members in the space.")],
    json: JsonFlag = False,
) -> None:
    """Give the members of a group a role in a space, now and when the group changes."""
    async with installation.database.writing() as session:
        group_id, space_id = await _ids(session, group, space)
        made = await service.set_role(session, acting(), group_id, space_id, role=role)
    print_result(
        {"group_id": group_id} | made.model_dump(mode="json"),
        f"Members of {group} have the role {role} in {made.space_name}.",
        json=json,
        markup=False,
    )


@app.command()
@on_installation
async def unmap(installation: Installation, group: Group, space: Space, json: JsonFlag = False) -> None:
    """Remove the role that a group grants in a space. Roles assigned in Headgate are kept."""
    async with installation.database.writing() as session:
        group_id, space_id = await _ids(session, group, space)
        await service.remove_role(session, acting(), group_id, space_id)
    print_result(
        {"group_id": group_id, "space_id": space_id, "role": None},
        f"{group} gives no role in {space} any more.",
        json=json,
        markup=False,
    )


async def _ids(session: AsyncSession, group: str, space: str) -> tuple[str, str]:
    find = get_space if is_id(space) else get_space_named
    directory_group = await service.find_group(session, acting(), group)
    return directory_group.id, (await find(session, acting(), space)).id


def _roles(group: GroupOut) -> str:
    return ", ".join(f"{role.role} in {role.space_name}" for role in group.roles) or "none"
