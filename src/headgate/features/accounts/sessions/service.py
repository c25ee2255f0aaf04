"""Sessions: starting, listing, ending."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.sessions import repository
from headgate.features.accounts.sessions.csrf import token_for
from headgate.features.accounts.sessions.errors import ServiceAccountRefused, SessionNotFound
from headgate.features.accounts.sessions.tokens import hash_of, new_token
from headgate.features.accounts.tables import User, UserSession
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.settings import AccountSettings

Method = Literal["password", "link", "single_sign_on", "passkey"]
MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session. Its token is known only here and to the browser."""

    id: str
    seconds: int
    """Maximum lifetime: the cookie's age."""
    token: str = field(repr=False)

    @property
    def csrf_token(self) -> str:
        """Return the value for the `X-CSRF-Token` header."""
        return token_for(self.token)


async def start_session(
    session: AsyncSession,
    user: User,
    settings: AccountSettings,
    *,
    address: str,
    user_agent: str,
    method: Method = "password",
    replaces: str | None = None,
    second_factor: str | None = None,
    provider_session: str | None = None,
) -> NewSession:
    """Start a session for an authenticated user. The token is new: a token known before sign-in is worthless.

    `replaces` is the browser's previous token; that session ends. `second_factor` is the factor used in addition to the
    password. Raises `ServiceAccountRefused`.
    """
    require_person(user)
    if replaces is not None:
        await repository.delete_sessions(
            session, tenant_id=user.tenant_id, user_id=user.id, token_hash=hash_of(replaces)
        )
    at = now()
    idle_since = at - timedelta(hours=settings.idle_hours)
    await repository.delete_dead_sessions(
        session, tenant_id=user.tenant_id, user_id=user.id, at=at, idle_since=idle_since
    )
    lasts = timedelta(hours=settings.session_hours)
    token = new_token()
    row = UserSession(
        id=new_id(),
        tenant_id=user.tenant_id,
        user_id=user.id,
        token_hash=hash_of(token),
        created_at=at,
        last_seen_at=at,
        expires_at=at + lasts,
        address=address[:64],
        user_agent=user_agent[:300],
        method=method,
        second_factor=second_factor,
        provider_session=provider_session,
        confirmed_at=at,
    )
    session.add(row)
    user.last_sign_in_at = at
    await session.flush()
    await record(
        session,
        newcomer(user, address),
        "session.started",
        id=row.id,
        name=name_of(user),
        after={"user_id": user.id, "method": method},
        payload={"method": method, "second_factor": second_factor, "user_agent": row.user_agent},
    )
    return NewSession(id=row.id, token=token, seconds=int(lasts.total_seconds()))


async def find_current(session: AsyncSession, principal: Principal, token: str | None) -> UserSession | None:
    """Return the session of the request; None for an API key, a command and auto-login."""
    if token is None or principal.actor.kind != "user":
        return None
    return await repository.find_session(
        session, tenant_id=principal.tenant_id, user_id=principal.user_id, token_hash=hash_of(token)
    )


async def list_sessions(
    session: AsyncSession, principal: Principal, settings: AccountSettings
) -> Sequence[UserSession]:
    """Return the caller's active sessions, most recently used first; at most 200."""
    at = now()
    return await repository.list_sessions(
        session,
        tenant_id=principal.tenant_id,
        user_id=principal.user_id,
        at=at,
        idle_since=at - timedelta(hours=settings.idle_hours),
        limit=MOST_LISTED,
    )


async def end_session(session: AsyncSession, principal: Principal, session_id: str) -> None:
    """End one of the caller's sessions. Raises `SessionNotFound`."""
    if not is_id(session_id) or not await repository.delete_sessions(
        session, tenant_id=principal.tenant_id, user_id=principal.user_id, only=session_id
    ):
        raise SessionNotFound(session_id)
    await record(session, principal, "session.ended", id=session_id, name=principal.actor.name)


async def end_other_sessions(session: AsyncSession, principal: Principal, token: str | None) -> int:
    """End every session of the caller except that of the request. Returns their number."""
    current = await find_current(session, principal, token)
    return await _end_all(
        session, principal, principal.user_id, principal.actor.name, besides=None if current is None else current.id
    )


async def list_sessions_of(
    session: AsyncSession, principal: Principal, settings: AccountSettings, user: User
) -> Sequence[UserSession]:
    """Return a user's active sessions, for an admin; most recently used first, at most 200."""
    principal.require(Permission.PEOPLE_MANAGE)
    at = now()
    return await repository.list_sessions(
        session,
        tenant_id=principal.tenant_id,
        user_id=user.id,
        at=at,
        idle_since=at - timedelta(hours=settings.idle_hours),
        limit=MOST_LISTED,
    )


async def end_sessions_of(session: AsyncSession, principal: Principal, user: User) -> int:
    """End every session of a user, for an admin. Returns their number."""
    principal.require(Permission.PEOPLE_MANAGE)
    return await _end_all(session, principal, user.id, name_of(user))


async def _end_all(
    session: AsyncSession, principal: Principal, user_id: str, name: str, *, besides: str | None = None
) -> int:
    ended_count = await repository.delete_sessions(
        session, tenant_id=principal.tenant_id, user_id=user_id, besides=besides
    )
    await record(session, principal, "user.sessions_ended", id=user_id, name=name, payload={"sessions": ended_count})
    return ended_count


async def sign_out(session: AsyncSession, principal: Principal, token: str | None) -> None:
    """End the session of the request, if any."""
    current = await find_current(session, principal, token)
    if current is not None:
        await end_session(session, principal, current.id)


def require_person(user: User) -> None:
    """Raise `ServiceAccountRefused` for an account that never signs in."""
    if user.kind == "service":
        raise ServiceAccountRefused(user.name)


def newcomer(user: User, address: str) -> Principal:
    """Return a principal without permissions: the audit log's actor during sign-in."""
    return Principal(
        tenant_id=user.tenant_id,
        user_id=user.id,
        space_id=user.home_space_id or "",
        access=Access(),
        actor=Actor("user", name_of(user), address=address or None),
    )


def name_of(user: User) -> str:
    """Return a user's name in the audit log: e-mail address, or name when there is none."""
    return user.email or user.name
