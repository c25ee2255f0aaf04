"""Access control: identifies callers, and limits their requests. Each part is created on first use."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.entrypoints.installation import Installation
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import Settings

if TYPE_CHECKING:
    from headgate.features.access.caller import Identity
    from headgate.features.accounts import identity as identities
    from headgate.features.accounts import throttle as throttles
    from headgate.features.accounts.credentials import last_use as last_uses
    from headgate.features.accounts.credentials import opening
    from headgate.features.accounts.credentials.credential import Credentials
    from headgate.features.accounts.passwords import hashing
    from headgate.features.accounts.sessions import sign_in as signing_in
    from headgate.features.accounts.single_sign_on import sign_on
    from headgate.features.accounts.users import repository as users
else:
    identities = lazy_module("headgate.features.accounts.identity")
    throttles = lazy_module("headgate.features.accounts.throttle")
    last_uses = lazy_module("headgate.features.accounts.credentials.last_use")
    opening = lazy_module("headgate.features.accounts.credentials.opening")
    hashing = lazy_module("headgate.features.accounts.passwords.hashing")
    signing_in = lazy_module("headgate.features.accounts.sessions.sign_in")
    sign_on = lazy_module("headgate.features.accounts.single_sign_on.sign_on")
    users = lazy_module("headgate.features.accounts.users.repository")


class AccessControl:
    """What identifies callers and counts their requests.

    With auto-login only API keys are checked.

    Args:
        installation: The settings, the open, migrated database and the keys.
    """

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._settings = installation.settings
        self._database = installation.database

    @cached_property
    def identity(self) -> "Identity":
        """Identifies the caller of a request."""
        signed_in = identities.SignedInIdentity(self._credentials, self.throttle, self._last_use, self._settings)
        return identities.LocalIdentity(signed_in) if self._settings.server.auto_login else signed_in

    @cached_property
    def throttle(self) -> "throttles.RateLimits":
        """Rate limits."""
        return throttles.rate_limits(self._settings)

    @cached_property
    def sign_in(self) -> "signing_in.SignIn":
        """Signs users in with a password."""
        return signing_in.SignIn(
            self._database,
            hashing.Passwords(),
            self.throttle,
            self._settings.accounts,
            self._installation.box,
        )

    @cached_property
    def single_sign_on(self) -> "sign_on.SingleSignOn | None":
        """Signs users in with an identity provider; None where none is configured, and with auto-login."""
        settings = self._settings
        if settings.server.auto_login or not settings.single_sign_on.issuer:
            return None
        return sign_on.single_sign_on(settings, self._installation.box)

    @cached_property
    def _credentials(self) -> "Credentials":
        return opening.credentials_of(self._database)

    @cached_property
    def _last_use(self) -> "last_uses.LastUse":
        return last_uses.LastUse(self._database)

    async def close(self) -> None:
        """Close the parts that were created."""
        created = vars(self)
        for name in ("single_sign_on", "sign_in", "_last_use", "throttle", "_credentials"):
            if created.get(name) is not None:
                await created[name].close()


@asynccontextmanager
async def open_access_control(installation: Installation) -> AsyncIterator[AccessControl]:
    """The parts, closed at the end. Without auto-login the rate limits are open from the start."""
    access_control = AccessControl(installation)
    if not installation.settings.server.auto_login:
        access_control.throttle.open()
    try:
        yield access_control
    finally:
        await access_control.close()


async def is_locked(settings: Settings, database: Database) -> bool:
    """Whether sign-in is required but impossible: there is no admin yet."""
    other = settings.single_sign_on
    if settings.server.auto_login or (other.issuer and other.create_users):
        return False
    async with database.reading() as session:
        return not await users.can_anyone_sign_in(session, by_address=bool(other.issuer))
