"""Authenticates requests: the local user of auto-login, a user with a session, or a program with a key.

Permissions are read from the database for every request, in one query. So revoked keys, ended sessions and changed
roles take effect immediately, in every process.
"""

import re
from dataclasses import replace

from fastapi import Request

from headgate.features.access.caller import Identity
from headgate.features.access.principal import HELD, LOCAL, Access, Actor, Principal
from headgate.features.accounts.addresses import address_of, counted
from headgate.features.accounts.credentials.credential import Credential, Credentials, Kind
from headgate.features.accounts.credentials.last_use import LastUse
from headgate.features.accounts.errors import CsrfMissing, NotSignedIn, SessionOver
from headgate.features.accounts.keys import secret
from headgate.features.accounts.keys.errors import KeyRefused, NetworkRefused
from headgate.features.accounts.keys.networks import require_network
from headgate.features.accounts.keys.scopes import known
from headgate.features.accounts.ports import Scope, Throttle
from headgate.features.accounts.sessions import csrf, tokens
from headgate.features.accounts.sessions.cookie import session_token
from headgate.foundation.database import microseconds, now
from headgate.foundation.errors import Unauthenticated
from headgate.foundation.settings import Settings

KEY_HEADER = "x-api-key"
_BEARER = re.compile(r"bearer[ \t]+(.*)", re.IGNORECASE | re.DOTALL)
_HOUR = 3_600_000_000


class LocalIdentity:
    """Auto-login: every caller is the one local user, unless the request has an API key.

    Args:
        keys: Authenticates keys; None ignores keys.
    """

    def __init__(self, keys: Identity | None = None) -> None:
        self._keys = keys

    async def identify(self, request: Request) -> Principal:
        """Return the key's user, else the local user, with the address of the request."""
        if self._keys is not None and keys_of(request):
            return await self._keys.identify(request)
        return replace(LOCAL, actor=replace(LOCAL.actor, address=address_of(request)))

    async def again(self, request: Request) -> Principal:
        """Return the current state of the same caller, without counting a request."""
        if self._keys is not None and keys_of(request):
            return await self._keys.again(request)
        return await self.identify(request)


class SignedInIdentity:
    """Requires authentication: with an API key, or with the cookie of a session.

    Args:
        credentials: Store of keys and sessions.
        throttle: Counts requests.
        last_use: Records the use of keys and sessions.
        settings: Idle timeout of sessions, and the server's URL, which determines the cookie's name.
    """

    def __init__(self, credentials: Credentials, throttle: Throttle, last_use: LastUse, settings: Settings) -> None:
        self._credentials = credentials
        self._throttle = throttle
        self._last_use = last_use
        self._server = settings.server
        self._idle = int(settings.accounts.idle_hours * _HOUR)

    async def identify(self, request: Request) -> Principal:
        """Return the key's or session's user.

        Raises `Unauthenticated` when there is none, `NetworkRefused` for a key that is used from another network,
        `CsrfMissing` for a change with a cookie and without the token, `RateLimited` when the key, the user or, without
        a valid credential, the address sent too many requests.
        """
        address = address_of(request)
        try:
            credential = await self._find(request)
        except (Unauthenticated, NetworkRefused):
            await self._throttle.allow(Scope.API_ADDRESS, counted(address))
            raise
        if credential.kind is Kind.KEY:
            await self._throttle.allow(Scope.API_KEY, credential.id)
        else:
            await self._throttle.allow(Scope.API_PERSON, credential.user_id)
        self._last_use.note(credential, address, microseconds(now()))
        return principal_of(credential, address)

    async def again(self, request: Request) -> Principal:
        """The current state of the same caller, for a streaming response; not counted. Raises `Unauthenticated`."""
        return principal_of(await self._find(request), address_of(request))

    async def _find(self, request: Request) -> Credential:
        keys = keys_of(request)
        if keys:
            # An explicit key has precedence: a wrong one never falls back to the cookie.
            credential = await self._find_key(keys)
            require_network(credential, address_of(request))
            return credential
        token = session_token(request, self._server)
        if token is None:
            raise NotSignedIn
        return await self._find_session(request, token)

    async def _find_key(self, keys: frozenset[str]) -> Credential:
        if len(keys) > 1:
            raise KeyRefused("The request has two different credentials.", remedy="Send one API key.")
        (key,) = keys
        credential = await self._credentials.find(Kind.KEY, secret.hash_of(key)) if secret.is_key(key) else None
        if credential is None:
            raise KeyRefused(
                "This API key is not valid.",
                remedy="Check that it was copied completely and belongs to this server.",
            )
        at = microseconds(now())
        if credential.revoked_at is not None:
            raise KeyRefused(f"The API key {credential.prefix} was revoked.", remedy="Create a new one.")
        if credential.expires_at is not None and credential.expires_at <= at:
            raise KeyRefused(f"The API key {credential.prefix} has expired.", remedy="Create a new one.")
        if not credential.active:
            raise KeyRefused(
                f"The owner of API key {credential.prefix} is deactivated.",
                remedy=("Ask an admin to activate the account."),
            )
        return credential

    async def _find_session(self, request: Request, token: str) -> Credential:
        credential = await self._credentials.find(Kind.SESSION, tokens.hash_of(token))
        if credential is None or not credential.active or self._is_over(credential):
            raise SessionOver
        if request.method not in csrf.SAFE_METHODS and not csrf.matches(token, request.headers.get(csrf.CSRF_HEADER)):
            raise CsrfMissing(csrf.CSRF_HEADER)
        return credential

    def _is_over(self, credential: Credential) -> bool:
        at = microseconds(now())
        has_ended = credential.expires_at is None or credential.expires_at <= at
        return has_ended or credential.seen_at is None or credential.seen_at + self._idle <= at


def keys_of(request: Request) -> frozenset[str]:
    """Return the distinct keys of a request. Other schemes than Bearer are ignored: they may be for a proxy."""
    keys = set(request.headers.getlist(KEY_HEADER))
    for header in request.headers.getlist("authorization"):
        if (bearer := _BEARER.fullmatch(header)) is not None:
            keys.add(bearer.group(1))
        elif header.lower() == "bearer":
            keys.add("")
    return frozenset(key.strip() for key in keys)


def principal_of(credential: Credential, address: str | None) -> Principal:
    """Return the principal of a key or session."""
    access = Access(
        admin=credential.admin,
        roles=credential.roles,
        scopes=HELD if credential.held else None if credential.scopes is None else known(credential.scopes),
        held=credential.held,
        spaces=None if credential.space_ids is None else frozenset(credential.space_ids),
    )
    by_key = credential.kind is Kind.KEY
    return Principal(
        tenant_id=credential.tenant_id,
        user_id=credential.user_id,
        space_id=_home(credential, access),
        access=access,
        actor=Actor(
            kind="key" if by_key else "user",
            name=credential.person,
            key_id=credential.id if by_key else None,
            key_prefix=credential.prefix,
            address=address,
        ),
    )


def _home(credential: Credential, access: Access) -> str:
    """Return the user's own space if it is accessible, else the only accessible one, else none."""
    if credential.home_space_id is not None and access.sees(credential.home_space_id):
        return credential.home_space_id
    visible = [space_id for space_id in credential.roles if access.sees(space_id)]
    return visible[0] if len(visible) == 1 else ""
