"""`headgate users`.

A password is asked for or read from standard input. It is never an argument: other users of the machine see those.
"""

import getpass
import sys
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.chosen import TENANT
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table
from headgate.entrypoints.cli.session import acting, on_installation, with_installation, with_reading
from headgate.entrypoints.installation import Installation
from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.passwords.hashing import Passwords
from headgate.features.accounts.passwords.rules import check_password
from headgate.features.accounts.second_factor.service import reset as remove_second_factors
from headgate.features.accounts.sessions.links import NewLink
from headgate.features.accounts.sessions.service import end_sessions_of, name_of
from headgate.features.accounts.single_sign_on.service import unlink as unlink_user
from headgate.features.accounts.tables import User
from headgate.features.accounts.users import service
from headgate.features.accounts.users.deletion import delete_user
from headgate.features.accounts.users.schemas import ServiceAccountIn, UserIn, UserPatch
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Users: create the first administrator here.")
Email = Annotated[str, typer.Argument(help="E-mail address, or the name of a service account.")]
_NO_SIGN_IN = {"user": "(no sign-in)", "service": "(service account)"}
TenantOption = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="Tenant of the user. Default: the tenant of the command.")
]


@app.command()
def create(
    email: Email,
    name: Annotated[
        str | None, typer.Option(help="Display name. Default: the part of the address before the @.")
    ] = None,
    admin: Annotated[bool, typer.Option("--admin", help="Make the user an administrator.")] = False,
    link: Annotated[
        bool, typer.Option("--link", help="Print a one-time link that lets the user set the password.")
    ] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    tenant: TenantOption = "",
    json: JsonFlag = False,
) -> None:
    """Create a user. The password is prompted for, unless --link or --password-stdin is used."""
    TENANT.set(tenant or TENANT.get())
    role = TenantRole.ADMIN if admin else TenantRole.MEMBER
    user_in = checked(UserIn, email=email, name=name, role=role)
    if link and password_stdin:
        raise Invalid("With --link, users choose the password themselves.", remedy="Use only one of them.")
    password = None if link else _password(from_input=password_stdin)
    if password is not None:
        check_password(password, own_words=(user_in.email, user_in.name or ""))

    async def work(installation: Installation) -> None:
        password_hash = None if password is None else await Passwords().hash(password)
        new_link: NewLink | None = None
        async with installation.database.writing() as session:
            if password_hash is None:
                user, new_link = await service.invite_user(
                    session, acting(), installation.settings.accounts, user_in=user_in
                )
            else:
                user = await service.create_user(session, acting(), user_in=user_in)
                await service.set_password(session, acting(), user, password_hash=password_hash)
        _show_user(user, f"Added {user.email} as {user.role}.", installation.settings, link=new_link, json=json)

    with_installation(work)


@app.command("create-service")
@on_installation
async def create_service(
    installation: Installation,
    name: Annotated[str, typer.Argument(help="Name, without @.")],
    admin: Annotated[bool, typer.Option("--admin", help="Make it an administrator.")] = False,
    json: JsonFlag = False,
) -> None:
    """Create a service account: it has roles, API keys and triggers, and cannot sign in."""
    role = TenantRole.ADMIN if admin else TenantRole.MEMBER
    account_in = checked(ServiceAccountIn, name=name, role=role)
    async with installation.database.writing() as session:
        account = await service.create_service_account(session, acting(), account_in=account_in)
    _show_user(account, f"Added service account {account.name} as {account.role}.", installation.settings, json=json)


@app.command()
def rename(email: Email, name: Annotated[str, typer.Argument(help="New name.")], json: JsonFlag = False) -> None:
    """Rename a user or service account."""
    _change(email, checked(UserPatch, name=name), "Renamed to {name}.", json=json)


@app.command("list")
def list_(
    search: Annotated[str, typer.Option(help="Part of a name or an e-mail address.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of users.")] = 100,
    json: JsonFlag = False,
) -> None:
    """List users."""
    rows = with_reading(lambda session, _: service.list_users(session, acting(), search=search, limit=limit))
    if json:
        print_json([_shown(row) for row in rows])
        return
    if not rows:
        console.print("No user matches.")
        return
    cells = [
        (escape(row.email or _NO_SIGN_IN[row.kind]), escape(row.name), row.role, _state(row), row.last_sign_in_at)
        for row in rows
    ]
    console.print(table(("e-mail", "name", "role", "state", "last sign-in"), cells))


@app.command()
@on_installation
async def reset(installation: Installation, email: Email, json: JsonFlag = False) -> None:
    """Print a one-time link to set a new password. Older links stop working."""
    async with installation.database.writing() as session:
        user = await service.get_user_named(session, acting(), email)
        new_link = await service.create_password_link(session, acting(), installation.settings.accounts, user.id)
    _show_user(user, f"For {user.email}:", installation.settings, link=new_link, json=json)


@app.command()
def deactivate(email: Email, json: JsonFlag = False) -> None:
    """Deactivate a user: sessions end at once and API keys stop working. The name is kept in history."""
    _change(email, UserPatch(active=False), "{user} is deactivated.", json=json)


@app.command()
def activate(email: Email, json: JsonFlag = False) -> None:
    """Reactivate a deactivated user."""
    _change(email, UserPatch(active=True), "{user} is active again.", json=json)


@app.command()
def delete(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    json: JsonFlag = False,
) -> None:
    """Delete a user with name, address, credentials and keys. History keeps the id; flows and runs are kept."""
    if not yes and not typer.confirm(f"Delete {email}? This cannot be undone."):
        raise typer.Abort

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            user = await service.get_user_named(session, acting(), email)
            await delete_user(session, acting(), user.id)
        print_result(
            {"id": user.id, "deleted": True},
            f"Deleted {email}. History keeps the id {user.id}.",
            json=json,
            markup=False,
        )

    with_installation(work)


@app.command()
def role(
    email: Email, role: Annotated[TenantRole, typer.Argument(help="admin or member.")], json: JsonFlag = False
) -> None:
    """Make a user an administrator of the tenant, or a regular member."""
    _change(email, UserPatch(role=role), "{user} is {role} now.", json=json)


@app.command("sign-out")
@on_installation
async def sign_out(installation: Installation, email: Email, json: JsonFlag = False) -> None:
    """End all sessions of a user. The user can sign in again; API keys keep working."""
    async with installation.database.writing() as session:
        user = await service.get_user_named(session, acting(), email)
        ended = await end_sessions_of(session, acting(), user)
    print_result(
        {"id": user.id, "ended": ended},
        f"{email} was signed out of {ended} session{'' if ended == 1 else 's'}.",
        json=json,
        markup=False,
    )


@app.command("reset-second-factor")
@on_installation
async def reset_second_factor(installation: Installation, email: Email, json: JsonFlag = False) -> None:
    """Remove the second factors of a user. Sessions end; the password is kept."""
    async with installation.database.writing() as session:
        user = await service.get_user_named(session, acting(), email)
        await remove_second_factors(session, acting(), user)
    _show_user(user, f"{user.email} no longer has a second factor.", installation.settings, json=json)


@app.command()
@on_installation
async def unlink(installation: Installation, email: Email, json: JsonFlag = False) -> None:
    """Unlink a user from single sign-on. The next sign-in links the account again by its e-mail address."""
    async with installation.database.writing() as session:
        user = await service.get_user_named(session, acting(), email)
        await unlink_user(session, acting(), user.id)
    _show_user(user, f"{user.email} will be linked again by verified e-mail address.", installation.settings, json=json)


@on_installation
async def _change(installation: Installation, email: str, patch: UserPatch, message: str, *, json: bool) -> None:
    async with installation.database.writing() as session:
        user = await service.get_user_named(session, acting(), email)
        changed = await service.update_user(session, acting(), user.id, patch=patch)
    text = message.format(user=name_of(changed), role=changed.role, name=changed.name)
    _show_user(changed, text, installation.settings, json=json)


def _password(*, from_input: bool) -> str:
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Invalid(
            "A password cannot be entered here.",
            remedy="Use --link to print a one-time link, or --password-stdin to read the password from standard input.",
        )
    first = getpass.getpass("Password (12 characters or more): ")
    if getpass.getpass("Repeat password: ") != first:
        raise Invalid("The passwords do not match. No user was created.", remedy="Try again.")
    return first


def _show_user(user: User, message: str, settings: Settings, *, link: NewLink | None = None, json: bool) -> None:
    url = None if link is None else link.address(_server(settings))
    if json:
        more = {} if link is None else {"link": {"url": url, "expires_at": link.expires_at.isoformat()}}
        print_json(_shown(user) | more)
        return
    console.print(message, markup=False)
    if link is not None and url is not None:
        console.print(url, markup=False, soft_wrap=True)
        until = link.expires_at.astimezone().strftime("%Y-%m-%d %H:%M")
        console.print(f"The link works once, until {until}. Send it only to that user.", markup=False)


def _server(settings: Settings) -> str:
    server = settings.server
    return server.public_url or f"http://{f'[{server.host}]' if ':' in server.host else server.host}:{server.port}"


def _state(user: User) -> str:
    if not user.active:
        return "shut out"
    return "" if user.password_hash or user.sso_subject or user.email is None else "invited"


def _shown(user: User) -> dict[str, object]:
    return {
        "id": user.id,
        "kind": user.kind,
        "email": user.email,
        "name": user.name,
        "role": user.role,
        "active": user.active,
        "can_sign_in": user.active and bool(user.password_hash or user.sso_subject),
        "last_sign_in_at": None if user.last_sign_in_at is None else user.last_sign_in_at.isoformat(),
    }
