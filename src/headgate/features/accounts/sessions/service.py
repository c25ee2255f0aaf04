"""Sessions: beginning one, seeing one's own, ending them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.sessions import repository
from headgate.features.accounts.sessions.csrf import token_for
from headgate.features.accounts.sessions.errors import SessionNotFound
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
    """A session that has just begun. Its token is known here and to the browser, and nowhere else."""

    id: str
    seconds: int
    """How long it may last at most: the cookie's age."""
    token: str = field(repr=False)

    @property
    def csrf_token(self) -> str:
        """What the page sends as `X-CSRF-Token`."""
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
    """Sign a person in who has proved who they are. The token is new: one known before sign-in is worth nothing.

    `replaces` is the token that their browser had so far; that session ends. `second_factor` is what they proved
    besides the password.
    """
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
    """The session that the caller came with; None for an API key, a command and auto-login."""
    if token is None or principal.actor.kind != "user":
        return None
    return await repository.find_session(
        session, tenant_id=principal.tenant_id, user_id=principal.user_id, token_hash=hash_of(token)
    )


async def list_sessions(
    session: AsyncSession, principal: Principal, settings: AccountSettings
) -> Sequence[UserSession]:
    """The caller's own sessions that still count, the one used last first; the newest 200."""
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
    """End one of the caller's own sessions. Raises `SessionNotFound`."""
    if not is_id(session_id) or not await repository.delete_sessions(
        session, tenant_id=principal.tenant_id, user_id=principal.user_id, only=session_id
    ):
        raise SessionNotFound(session_id)
    await record(session, principal, "session.ended", id=session_id, name=principal.actor.name)


async def end_other_sessions(session: AsyncSession, principal: Principal, token: str | None) -> int:
    """End every session of the caller's but the one they came with. Returns how many there were."""
    here = await find_current(session, principal, token)
    return await _end_all(
        session, principal, principal.user_id, principal.actor.name, besides=None if here is None else here.id
    )


async def list_sessions_of(
    session: AsyncSession, principal: Principal, settings: AccountSettings, user: User
) -> Sequence[UserSession]:
    """A user's active sessions, for an admin; the most recently used first, at most 200."""
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
    """End every session of a user, for an admin. Returns how many there were."""
    principal.require(Permission.PEOPLE_MANAGE)
    return await _end_all(session, principal, user.id, name_of(user))


async def _end_all(
    session: AsyncSession, principal: Principal, user_id: str, name: str, *, besides: str | None = None
) -> int:
    ended = await repository.delete_sessions(session, tenant_id=principal.tenant_id, user_id=user_id, besides=besides)
    await record(session, principal, "user.sessions_ended", id=user_id, name=name, payload={"sessions": ended})
    return ended


async def sign_out(session: AsyncSession, principal: Principal, token: str | None) -> None:
    """End the session that the caller came with, if they came with one."""
    found = await find_current(session, principal, token)
    if found is not None:
        await end_session(session, principal, found.id)


def newcomer(user: User, address: str) -> Principal:
    """A person who has no access yet: whom the audit log names while they prove who they are."""
    return Principal(
        tenant_id=user.tenant_id,
        user_id=user.id,
        space_id=user.home_space_id or "",
        access=Access(),
        actor=Actor("user", name_of(user), address=address or None),
    )


def name_of(user: User) -> str:
    """What the audit log calls a person: their e-mail address, or their name where they have none."""
    return user.email or user.name
