"""`headgate keys`."""

from datetime import timedelta
from typing import Annotated

import typer
from rich.markup import escape
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, require_named, with_installation, with_reading, with_writing
from headgate.entrypoints.installation import Installation
from headgate.features.accounts.keys import service
from headgate.features.accounts.keys.schemas import KeyIn, KeyOut
from headgate.features.accounts.spaces.service import get_space_named
from headgate.features.accounts.users.service import get_user_named
from headgate.foundation.checked import checked
from headgate.foundation.database import now
from headgate.foundation.ids import is_id

app = typer.Typer(add_completion=False, no_args_is_help=True, help="API keys: let programs act on behalf of a user.")
_MOST = 1000
_NAMED = 3
"""So many permissions are named in a list; of more, their number."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Purpose.")],
    user: Annotated[
        str,
        typer.Option(
            "--user",
            metavar="USER",
            help="User or service account of the key. Default with auto-login: the local user.",
        ),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="A permission or a role. Repeatable. Default: all permissions of the user."),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option("--space", help="Id or name of a space. Repeatable. Default: all spaces of the user."),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(
            "--network", help="Network from which it can be used, such as 192.0.2.0/24. Repeatable. Default: any."
        ),
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Days until it expires. Default: never.")] = None,
    json: JsonFlag = False,
) -> None:
    """Create an API key that acts on behalf of a user. It is printed once and stored as a hash."""
    require_named(user, "--user")
    expires_at = None if days is None else now() + timedelta(days=days)

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            spaces = [await _space(session, which) for which in space or ()]
            key_in = checked(
                KeyIn,
                name=name,
                scopes=scope or None,
                space_ids=spaces or None,
                networks=network or None,
                expires_at=expires_at,
            )
            owner_id = (await get_user_named(session, acting(), user)).id if user else None
            made = await service.create_key(session, acting(), key_in=key_in, owner_user_id=owner_id)
        if json:
            print_json(made.shown.model_dump(mode="json") | {"key": made.secret})
            return
        console.print(f"{_owner(made.shown)} has a new key. This is the only time it is shown:", markup=False)
        console.print(made.secret, markup=False, soft_wrap=True)

    with_installation(work)


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List the keys of all users, oldest first. Secrets are never shown."""
    keys = with_reading(lambda session, _: service.list_keys(session, acting(), everyone=True, limit=_MOST))
    print_rows(
        keys,
        ("key", "name", "of", "may", "state", "last used"),
        [
            (
                key.prefix,
                escape(key.name),
                escape(_owner(key)),
                _may(key),
                _state(key),
                when(key.last_used_at) or "never",
            )
            for key in keys
        ],
        json=json,
        none="No API keys yet. Create one: [bold]headgate keys create NAME --user EMAIL[/]",
    )


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="PREFIX", help="Prefix of the key, as listed, or its id.")],
    json: JsonFlag = False,
) -> None:
    """Revoke a key permanently. It stops working at once."""
    ended = with_writing(lambda session, _: service.revoke_key(session, acting(), key))
    print_result(ended, f"Revoked {ended.prefix} ({ended.name}).", json=json, markup=False)


async def _space(session: AsyncSession, space: str) -> str:
    return space if is_id(space) else (await get_space_named(session, acting(), space)).id


def _owner(key: KeyOut) -> str:
    return key.user.email or key.user.name


def _may(key: KeyOut) -> str:
    """Return the permissions of a key, within those of its user."""
    scopes = ["all"] if key.scopes is None else key.scopes
    shown = ", ".join(scopes) if len(scopes) <= _NAMED else f"{len(scopes)} permissions"
    if key.networks is not None:
        shown += f" from {', '.join(key.networks)}"
    if key.space_ids is None:
        return shown
    return f"{shown} in {len(key.space_ids)} space{'' if len(key.space_ids) == 1 else 's'}"


def _state(key: KeyOut) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "works"
    return f"works until {when(key.expires_at)}" if key.expires_at > now() else "expired"
