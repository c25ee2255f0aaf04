"""HTTP routes of users."""

from typing import Annotated

from fastapi import Query, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.keys import service as keys
from headgate.features.accounts.keys.schemas import KeyIn, KeyMade, KeyOut
from headgate.features.accounts.schemas import AccountKind
from headgate.features.accounts.sessions import service as sessions
from headgate.features.accounts.sessions.links import NewLink
from headgate.features.accounts.sessions.schemas import SessionOut, Sessions, SessionsEnded
from headgate.features.accounts.tables import User
from headgate.features.accounts.users import deletion, service
from headgate.features.accounts.users.schemas import (
    Invited,
    LinkOut,
    ServiceAccountIn,
    UserIn,
    UserOut,
    UserPatch,
)
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, WriteSession, page_of, parse_cursor
from headgate.foundation.settings import Settings

router = Routes(prefix="/users", tags=["people"])
VIEW, MANAGE = needs(Permission.PEOPLE_VIEW), needs(Permission.PEOPLE_MANAGE)
KEYS = needs(Permission.KEYS_MANAGE)
Search = Annotated[
    str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description=("Part of a name or e-mail address."))
]


@router.get("", "List people", [VIEW], problems=(401, 403))
async def list_users(
    session: ReadSession,
    caller: Caller,
    kind: AccountKind | None = None,
    search: Search = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[UserOut]:
    """List the users and service accounts of your organisation, or those of a kind, in order of creation."""
    rows = await service.list_users(
        session, caller, kind=kind, search=search, limit=limit + 1, after=parse_cursor(cursor)
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=[user_out(row) for row in page], next_cursor=following)


@router.post("", "Invite a person", [MANAGE], status_code=201, problems=(401, 403, 409))
async def invite_user(body: UserIn, request: Request, session: WriteSession, caller: Caller) -> Invited:
    """Create a user with a space, and a link to set the password, which is shown only once."""
    settings: Settings = request.app.state.settings
    user, link = await service.invite_user(session, caller, settings.accounts, user_in=body)
    return Invited(**user_out(user).model_dump(), link=_link_out(link, request, settings))


@router.post("/service-accounts", "Create a service account", [MANAGE], status_code=201, problems=(401, 403, 409, 422))
async def create_service_account(body: ServiceAccountIn, session: WriteSession, caller: Caller) -> UserOut:
    """Create an account for programs and triggers. It has roles and API keys, and cannot sign in."""
    return user_out(await service.create_service_account(session, caller, account_in=body))


@router.get("/{user_id}", "Read a person", [VIEW], problems=(401, 403, 404))
async def read_user(user_id: str, session: ReadSession, caller: Caller) -> UserOut:
    """A user of your organisation."""
    return user_out(await service.get_user(session, caller, user_id))


@router.patch("/{user_id}", "Change a person", [MANAGE], problems=(401, 403, 404, 409))
async def update_user(user_id: str, body: UserPatch, session: WriteSession, caller: Caller) -> UserOut:
    """Change name, role in the organisation, or active state. The last admin who can sign in stays one."""
    return user_out(await service.update_user(session, caller, user_id, patch=body))


@router.delete("/{user_id}", "Delete a user", [MANAGE], problems=(401, 403, 404, 409))
async def delete_user(user_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete name, address, credentials, sessions and keys; history keeps the id. Flows and runs remain."""
    await deletion.delete_user(session, caller, user_id)


@router.get("/{user_id}/api-keys", "List a user's API keys", [KEYS], problems=(401, 403, 404))
async def list_keys(
    user_id: str, session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None
) -> Page[KeyOut]:
    """List the keys of a user or service account, oldest first, including revoked ones; never their secrets."""
    user = await service.get_user(session, caller, user_id)
    rows = await keys.list_keys(session, caller, user_id=user.id, limit=limit + 1, after=parse_cursor(cursor))
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post(
    "/{user_id}/api-keys",
    "Create an API key of a service account",
    [KEYS],
    status_code=201,
    problems=(401, 403, 404, 409, 422),
)
async def create_key(user_id: str, body: KeyIn, session: WriteSession, caller: Caller) -> KeyMade:
    """Create a key that acts for a service account. Only this response contains it. Users create their own keys."""
    account = await service.get_user(session, caller, user_id)
    new_key = await keys.create_key_of_service(session, caller, account, body)
    return KeyMade(**new_key.shown.model_dump(), key=new_key.secret)


@router.post(
    "/{user_id}/password-link",
    "Create a link to set a password",
    [MANAGE],
    status_code=201,
    problems=(401, 403, 404, 409),
)
async def create_password_link(user_id: str, request: Request, session: WriteSession, caller: Caller) -> LinkOut:
    """Create a link for a forgotten password. Earlier links become invalid."""
    settings: Settings = request.app.state.settings
    link = await service.create_password_link(session, caller, settings.accounts, user_id)
    return _link_out(link, request, settings)


@router.get("/{user_id}/sessions", "List a user's sessions", [MANAGE], problems=(401, 403, 404))
async def list_sessions(user_id: str, request: Request, session: ReadSession, caller: Caller) -> Sessions:
    """List a user's sessions, most recently used first."""
    settings: Settings = request.app.state.settings
    user = await service.get_user(session, caller, user_id)
    rows = await sessions.list_sessions_of(session, caller, settings.accounts, user)
    return Sessions(items=[SessionOut.model_validate(row) for row in rows])


@router.delete("/{user_id}/sessions", "End a user's sessions", [MANAGE], problems=(401, 403, 404))
async def end_sessions(user_id: str, session: WriteSession, caller: Caller) -> SessionsEnded:
    """End all sessions of a user. The user can sign in again; API keys keep working."""
    user = await service.get_user(session, caller, user_id)
    return SessionsEnded(ended=await sessions.end_sessions_of(session, caller, user))


def user_out(user: User) -> UserOut:
    """Return a user in the form of the API."""
    return UserOut.model_validate(
        {name: getattr(user, name) for name in UserOut.model_fields if name != "can_sign_in"}
        | {"can_sign_in": user.active and (user.password_hash is not None or user.sso_subject is not None)}
    )


def _link_out(link: NewLink, request: Request, settings: Settings) -> LinkOut:
    server = settings.server.public_url or str(request.base_url)
    return LinkOut(url=link.address(server), expires_at=link.expires_at)
