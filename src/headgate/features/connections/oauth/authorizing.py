"""Authorizing connections: start, callback of the browser, device code. An authorization is used once, by its user."""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from pydantic import SecretStr

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record_of
from headgate.features.connections import repository as connections
from headgate.features.connections import service
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.errors import AuthorizationLost, BadConnection, ProviderFailed
from headgate.features.connections.oauth import repository
from headgate.features.connections.oauth.provider import (
    GrantPending,
    ProviderHttp,
    TokenSet,
    fetch_tokens,
    messages,
    post,
)
from headgate.features.connections.schemas import AuthorizationOut, AuthorizationState
from headgate.features.connections.tables import ConnectionAuthorization, ConnectionRow
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now

LIFETIME = timedelta(minutes=10)
MAX_DEVICE = timedelta(minutes=30)
SHORTEST_INTERVAL = 1
LONGEST_INTERVAL = 60
ClientSecret = Callable[[ConnectionRow, Principal], Awaitable[str]]
"""Returns the client secret of a connection; the read is written down."""


@dataclass(frozen=True, slots=True)
class Authorizations:
    """Authorizations of connections.

    Args:
        database: The database of authorizations and tokens.
        box: Encrypts them.
        http: Sends requests to providers.
        client_secret: Reads client secrets.
    """

    database: Database
    box: SecretBox
    http: ProviderHttp
    client_secret: ClientSecret

    async def start(self, principal: Principal, row: ConnectionRow, redirect_uri: str) -> AuthorizationOut:
        """Begin to authorize a connection that the user may change.

        Raises `BadConnection` for a kind without OAuth, `ProviderFailed`, `OAuthMissing`.
        """
        grant = KINDS[row.kind].grant
        if grant == "authorization_code":
            return await self._start_code(principal, row, redirect_uri)
        if grant == "device_code":
            return await self._start_device(principal, row)
        if grant == "client_credentials":
            secret = await self.client_secret(row, principal)
            scope = {"scope": str(row.fields["scopes"])} if row.fields.get("scopes") else {}
            await self._store(principal, row, await fetch_tokens(self.http, row.fields, secret, grant, **scope))
            return AuthorizationOut(state="ready")
        raise BadConnection(
            f"The connection '{row.name}' is not authorized by OAuth.", remedy="Test it instead, or change its secret."
        )

    async def finish(
        self, principal: Principal, *, state: str, code: str, error: str, issuer: str = ""
    ) -> ConnectionRow:
        """Redeem the code that the provider sent to the user's browser.

        Raises `AuthorizationLost` for an authorization of someone else, a used or an old one; `ProviderFailed`,
        `PermissionMissing`.
        """
        principal.require_somewhere(Permission.CONNECTIONS_OWN)
        async with self.database.writing() as session:
            pending = await repository.take_authorization(
                session, _hash(state), tenant_id=principal.tenant_id, user_id=principal.user_id, at=now()
            )
        if pending is None:
            raise AuthorizationLost
        row = await self._connection(principal, pending)
        if error or not code:
            raise ProviderFailed(
                f"The provider did not authorize the connection '{row.name}'.",
                remedy="Authorize it again, and agree at the provider.",
            )
        expected = row.fields.get("issuer")
        if issuer and expected and issuer.rstrip("/") != str(expected).rstrip("/"):
            raise ProviderFailed(
                f"The answer for the connection '{row.name}' comes from another issuer than it was sent to.",
                remedy="Authorize it again. If this repeats, check the address of the provider.",
            )
        content = self._opened(pending, row)
        secret = await self.client_secret(row, principal)
        parameters = {"code": code, "redirect_uri": content["redirect_uri"], "code_verifier": content["verifier"]}
        tokens = await fetch_tokens(self.http, row.fields, secret, "authorization_code", **parameters)
        await self._store(principal, row, tokens)
        return row

    async def poll(self, principal: Principal, row: ConnectionRow, authorization: str) -> AuthorizationState:
        """Ask the provider whether the user has entered the device code.

        Raises `AuthorizationLost`, `GrantEnded` when the user refused or the code is too old, `ProviderFailed`.
        """
        key = _hash(authorization)
        async with self.database.reading() as session:
            pending = await repository.find_authorization(
                session, key, tenant_id=principal.tenant_id, user_id=principal.user_id, at=now()
            )
        if pending is None or pending.connection_id != row.id:
            raise AuthorizationLost
        secret = await self.client_secret(row, principal)
        try:
            tokens = await fetch_tokens(
                self.http, row.fields, secret, "device_code", device_code=self._opened(pending, row)["device_code"]
            )
        except GrantPending as waiting:
            return AuthorizationState(state="pending", slower=waiting.slower)
        async with self.database.writing() as session:
            await repository.take_authorization(
                session, key, tenant_id=principal.tenant_id, user_id=principal.user_id, at=now()
            )
        await self._store(principal, row, tokens)
        return AuthorizationState(state="ready")

    async def _start_code(self, principal: Principal, row: ConnectionRow, redirect_uri: str) -> AuthorizationOut:
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        url = messages().authorization_url(row.fields, redirect_uri=redirect_uri, state=state, verifier=verifier)
        content = {"verifier": verifier, "redirect_uri": redirect_uri}
        await self._remember(principal, row, state, content, LIFETIME)
        return AuthorizationOut(state="redirect", url=url)

    async def _start_device(self, principal: Principal, row: ConnectionRow) -> AuthorizationOut:
        secret = await self.client_secret(row, principal)
        headers, body = messages().device_message(row.fields, secret)
        answer = await post(self.http, str(row.fields["device_url"]), headers, body)
        code, user_code, address = (answer.get(name) for name in ("device_code", "user_code", "verification_uri"))
        if not (isinstance(code, str) and isinstance(user_code, str) and isinstance(address, str)):
            raise ProviderFailed("The provider issued no device code.", remedy="Check the device authorization URL.")
        authorization = secrets.token_urlsafe(32)
        seconds = _seconds(answer.get("expires_in"), 600, 1, int(MAX_DEVICE.total_seconds()))
        await self._remember(principal, row, authorization, {"device_code": code}, timedelta(seconds=seconds))
        return AuthorizationOut(
            state="device",
            authorization=authorization,
            user_code=user_code[:64],
            url=address[:2000] if address.startswith(("https://", "http://")) else "",
            interval=_seconds(answer.get("interval"), 5, SHORTEST_INTERVAL, LONGEST_INTERVAL),
            expires_in=seconds,
        )

    async def _remember(
        self, principal: Principal, row: ConnectionRow, key: str, content: dict[str, str], lifetime: timedelta
    ) -> None:
        at = now()
        async with self.database.writing() as session:
            await repository.add_authorization(
                session,
                _hash(key),
                connection_id=row.id,
                tenant_id=row.tenant_id,
                user_id=principal.user_id,
                sealed=self.box.encrypt(SecretStr(orjson.dumps({**content, **_token_url(row)}).decode())),
                expires_at=at + lifetime,
                at=at,
            )

    def _opened(self, pending: ConnectionAuthorization, row: ConnectionRow) -> dict[str, Any]:
        content: dict[str, Any] = orjson.loads(self.box.decrypt(pending.sealed).get_secret_value())
        if content.get("token_url") != _token_url(row)["token_url"]:  # changed since: the code is for the other server
            raise AuthorizationLost
        return content

    async def _connection(self, principal: Principal, pending: ConnectionAuthorization) -> ConnectionRow:
        """Return the connection that is being authorized; the user must still be allowed to change it."""
        async with self.database.reading() as session:
            return await service.get_connection(session, principal, pending.connection_id, manage=True)

    async def _store(self, principal: Principal, row: ConnectionRow, tokens: TokenSet) -> None:
        async with self.database.writing() as session:
            await repository.save_token(
                session,
                row.id,
                tenant_id=row.tenant_id,
                sealed=tokens.seal(self.box, KINDS[row.kind].reach(row.fields)),
                scopes=tokens.scopes,
                expires_at=tokens.expires_at,
            )
            await connections.set_status(
                session, row.id, tenant_id=row.tenant_id, status="ready", error=None, tested_at=None, authorized=True
            )
            payload = {"scopes": tokens.scopes, "refreshes": bool(tokens.refresh)}
            await record_of(session, principal, "connection.authorized", row, payload=payload)


def _token_url(row: ConnectionRow) -> dict[str, str]:
    return {"token_url": str(row.fields["token_url"])}


def _hash(state: str) -> str:
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()


def _seconds(value: object, default: int, least: int, most: int) -> int:
    return min(max(int(value), least), most) if isinstance(value, int | float) else default
