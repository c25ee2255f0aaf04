"""Finds out who sent a request: the local user of auto-login, a person with a session, or a program with a key.

What somebody may do is read from the database at every request, in one query. So a key that is revoked, a session that
is ended and a role that is changed count at once, in every process.
"""

import re
from dataclasses import replace

from fastapi import Request

from headgate.features.access.caller import Identity
from headgate.features.access.principal import HELD, LOCAL, Access, Actor, Principal
from headgate.features.accounts.addresses import address_of, counted
from headgate.features.accounts.credentials.found import Credentials, Found, Kind
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
    """Auto-login: whoever reaches the server is the one local user, unless they send an API key.

    Args:
        keys: Who tells whose key it is; None: keys are not looked at.
    """

    def __init__(self, keys: Identity | None = None) -> None:
        self._keys = keys

    async def identify(self, request: Request) -> Principal:
        """The key's person, else the local user, at the address the request came from."""
        if self._keys is not None and keys_of(request):
            return await self._keys.identify(request)
        return replace(LOCAL, actor=replace(LOCAL.actor, address=address_of(request)))

    async def again(self, request: Request) -> Principal:
        """The same as things are now; not counted."""
        if self._keys is not None and keys_of(request):
            return await self._keys.again(request)
        return await self.identify(request)


class SignedInIdentity:
    """Everybody says who they are: with an API key, or with the cookie of a session.

    Args:
        credentials: Where keys and sessions are kept.
        throttle: Counts requests.
        last_use: Writes down when a key or session was used.
        settings: How long a session may rest, and the server's address, by which the cookie is named.
    """

    def __init__(self, credentials: Credentials, throttle: Throttle, last_use: LastUse, settings: Settings) -> None:
        self._credentials = credentials
        self._throttle = throttle
        self._last_use = last_use
        self._server = settings.server
        self._idle = int(settings.accounts.idle_hours * _HOUR)

    async def identify(self, request: Request) -> Principal:
        """The key's or session's person.

        Raises `Unauthenticated` when there is none, `NetworkRefused` for a key that is used from another network,
        `CsrfMissing` when a cookie asks for a change without the token,
        `RateLimited` when the key, the person or, without a valid credential, the address asked too often.
        """
        address = address_of(request)
        try:
            found = await self._find(request)
        except (Unauthenticated, NetworkRefused):
            await self._throttle.allow(Scope.API_ADDRESS, counted(address))
            raise
        if found.kind is Kind.KEY:
            await self._throttle.allow(Scope.API_KEY, found.id)
        else:
            await self._throttle.allow(Scope.API_PERSON, found.user_id)
        self._last_use.note(found, address, microseconds(now()))
        return principal_of(found, address)

    async def again(self, request: Request) -> Principal:
        """The same as things are now, for an answer that goes on; not counted. Raises `Unauthenticated`."""
        return principal_of(await self._find(request), address_of(request))

    async def _find(self, request: Request) -> Found:
        sent = keys_of(request)
        if sent:
            # Whoever sends a key means it: a wrong one never falls back to the cookie.
            found = await self._find_key(sent)
            require_network(found, address_of(request))
            return found
        token = session_token(request, self._server)
        if token is None:
            raise NotSignedIn
        return await self._find_session(request, token)

    async def _find_key(self, sent: frozenset[str]) -> Found:
        if len(sent) > 1:
            raise KeyRefused("The request came with two different credentials.", remedy="Send one API key.")
        (key,) = sent
        found = await self._credentials.find(Kind.KEY, secret.hash_of(key)) if secret.is_key(key) else None
        if found is None:
            raise KeyRefused(
                "This API key opens nothing here.",
                remedy="Check that all of it was copied, and that it is of this server.",
            )
        at = microseconds(now())
        if found.revoked_at is not None:
            raise KeyRefused(f"The API key {found.prefix} was revoked.", remedy="Make a new one.")
        if found.expires_at is not None and found.expires_at <= at:
            raise KeyRefused(f"The API key {found.prefix} has expired.", remedy="Make a new one.")
        if not found.active:
            raise KeyRefused(
                f"The person whose API key {found.prefix} is may not come in.", remedy="Ask an admin to let them in."
            )
        return found

    async def _find_session(self, request: Request, token: str) -> Found:
        found = await self._credentials.find(Kind.SESSION, tokens.hash_of(token))
        if found is None or not found.active or self._is_over(found):
            raise SessionOver
        if request.method not in csrf.SAFE_METHODS and not csrf.matches(token, request.headers.get(csrf.CSRF_HEADER)):
            raise CsrfMissing(csrf.CSRF_HEADER)
        return found

    def _is_over(self, found: Found) -> bool:
        at = microseconds(now())
        ended = found.expires_at is None or found.expires_at <= at
        return ended or found.seen_at is None or found.seen_at + self._idle <= at


def keys_of(request: Request) -> frozenset[str]:
    """The different keys that a request came with. Other schemes than Bearer are not ours: a proxy may ask for them."""
    found = set(request.headers.getlist(KEY_HEADER))
    for header in request.headers.getlist("authorization"):
        if (bearer := _BEARER.fullmatch(header)) is not None:
            found.add(bearer.group(1))
        elif header.lower() == "bearer":
            found.add("")
    return frozenset(one.strip() for one in found)


def principal_of(found: Found, address: str | None) -> Principal:
    """Who a key or session stands for, and what they may do."""
    access = Access(
        admin=found.admin,
        roles=found.roles,
        scopes=HELD if found.held else None if found.scopes is None else known(found.scopes),
        held=found.held,
        spaces=None if found.space_ids is None else frozenset(found.space_ids),
    )
    by_key = found.kind is Kind.KEY
    return Principal(
        tenant_id=found.tenant_id,
        user_id=found.user_id,
        space_id=_home(found, access),
        access=access,
        actor=Actor(
            kind="key" if by_key else "user",
            name=found.person,
            key_id=found.id if by_key else None,
            key_prefix=found.prefix,
            address=address,
        ),
    )


def _home(found: Found, access: Access) -> str:
    """Their own space if it is there for them, else the only one that is, else none."""
    if found.home_space_id is not None and access.sees(found.home_space_id):
        return found.home_space_id
    seen = [space_id for space_id in found.roles if access.sees(space_id)]
    return seen[0] if len(seen) == 1 else ""
