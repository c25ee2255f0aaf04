"""Sensitive account changes need a recent confirmation: with a second factor, else the password.

Signing in counts as one. A session whose cookie was stolen an hour after sign-in cannot change how its user signs in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.passwords.hashing import Passwords
from headgate.features.accounts.ports import Scope, Throttle
from headgate.features.accounts.second_factor import proof, repository
from headgate.features.accounts.second_factor.errors import (
    BrowserNeeded,
    ConfirmationNeeded,
    ConfirmationRefused,
    SecondFactorRefused,
)
from headgate.features.accounts.sessions.repository import find_active
from headgate.features.accounts.sessions.service import find_current
from headgate.features.accounts.tables import User, UserSession
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now

FRESH = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class CurrentSession:
    """A signed-in user and the session of the request."""

    user: User
    session: UserSession


async def find_current_session(session: AsyncSession, principal: Principal, token: str | None) -> CurrentSession:
    """Return the caller with the session. Raises `BrowserNeeded` for API keys, commands and auto-login."""
    current = await find_current(session, principal, token)
    user = await find_active(session, principal.user_id, tenant_id=principal.tenant_id)
    if current is None or user is None:
        raise BrowserNeeded
    return CurrentSession(user, current)


async def require_fresh(session: AsyncSession, current: CurrentSession) -> None:
    """Raise `ConfirmationNeeded` unless the session was started or confirmed in the last ten minutes."""
    confirmed = current.session.confirmed_at or current.session.created_at
    if confirmed <= now() - FRESH:
        raise ConfirmationNeeded(await ways_of(session, current.user))


async def ways_of(session: AsyncSession, user: User) -> Sequence[str]:
    """Return what a user can confirm with: second factors, else the password; nothing for single sign-on alone."""
    return await proof.methods_of(session, user) or (["password"] if user.password_hash is not None else [])


@dataclass(frozen=True)
class Confirmation:
    """Confirms sessions; compares between two transactions, like sign-in."""

    database: Database
    passwords: Passwords
    throttle: Throttle
    box: SecretBox

    async def confirm(self, principal: Principal, token: str | None, *, password: str | None, code: str | None) -> None:
        """Confirm the caller's session.

        Raises `BrowserNeeded`, `ConfirmationNeeded` when no accepted proof was sent, `ConfirmationRefused` and
        `RateLimited`.
        """
        await self.throttle.allow(Scope.SECOND_FACTOR_USER, principal.user_id)
        async with self.database.reading() as session:
            current = await find_current_session(session, principal, token)
            methods = await ways_of(session, current.user)
        if "password" in methods:
            if password is None:
                raise ConfirmationNeeded(methods)
            if not await self.passwords.verify(current.user.password_hash, password):
                raise ConfirmationRefused
        elif code is None or not methods:
            raise ConfirmationNeeded(methods)
        async with self.database.writing() as session:
            factor = None
            if "password" not in methods and code is not None:
                try:
                    factor = await proof.claim(session, self.box, current.user, code)
                except SecondFactorRefused as error:
                    raise ConfirmationRefused from error
            await repository.note_confirmed(
                session, current.session.id, tenant_id=principal.tenant_id, at=now(), factor=factor
            )
