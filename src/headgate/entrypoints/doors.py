"""Who may come in, wired: what tells who sent a request, and what counts how often they ask."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headgate.features.access.caller import Identity
from headgate.features.accounts.credentials.last_use import LastUse
from headgate.features.accounts.credentials.opening import credentials_of
from headgate.features.accounts.identity import LocalIdentity, SignedInIdentity
from headgate.features.accounts.passwords.hashing import Passwords
from headgate.features.accounts.sessions.sign_in import SignIn
from headgate.features.accounts.single_sign_on.sign_on import SingleSignOn
from headgate.features.accounts.throttle import RateLimits, rate_limits
from headgate.features.accounts.users.repository import anybody_can_sign_in
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings


@dataclass(frozen=True)
class Doors:
    """What an application's state holds of it."""

    identity: Identity
    throttle: RateLimits
    sign_in: SignIn
    single_sign_on: SingleSignOn | None
    """None where no provider is set up, and with auto-login, where nobody signs in."""


@asynccontextmanager
async def open_doors(settings: Settings, database: Database) -> AsyncIterator[Doors]:
    """By the mode that is set: with auto-login only API keys are looked at, and nothing is opened before one comes."""
    credentials, throttle, last_use = credentials_of(database), rate_limits(settings), LastUse(database)
    signed_in = SignedInIdentity(credentials, throttle, last_use, settings)
    sign_in = SignIn(database, Passwords(), throttle, settings.accounts)
    single_sign_on = _single_sign_on(settings)
    if not settings.server.auto_login:
        throttle.open()
    try:
        yield Doors(
            LocalIdentity(signed_in) if settings.server.auto_login else signed_in, throttle, sign_in, single_sign_on
        )
    finally:
        if single_sign_on is not None:
            await single_sign_on.close()
        await sign_in.close()
        await last_use.close()
        await throttle.close()
        await credentials.close()


async def is_locked(settings: Settings, database: Database) -> bool:
    """Whether everybody has to sign in and nobody can: there is no admin yet."""
    other = settings.single_sign_on
    if settings.server.auto_login or (other.issuer and other.create_users):
        return False
    async with database.reading() as session:
        return not await anybody_can_sign_in(session, by_address=bool(other.issuer))


def _single_sign_on(settings: Settings) -> SingleSignOn | None:
    if settings.server.auto_login or not settings.single_sign_on.issuer:
        return None
    return SingleSignOn(settings.single_sign_on, SecretBox(settings))
