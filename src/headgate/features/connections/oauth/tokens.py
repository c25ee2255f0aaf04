"""Access tokens of connections. Of all processes, one at a time refreshes those of a connection."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import SecretStr

from headgate.features.access.principal import system_principal
from headgate.features.audit.recorder import record_of
from headgate.features.connections import repository as connections
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.errors import ConnectionUnusable, ProviderFailed
from headgate.features.connections.oauth import repository
from headgate.features.connections.oauth.provider import (
    GrantEnded,
    ProviderHttp,
    TokenSet,
    fetch_tokens,
    messages,
    post,
    unseal,
)
from headgate.features.connections.tables import ConnectionRow, ConnectionToken
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id

LEASE = timedelta(seconds=60)
"""Longer than a request to a provider may take."""
WAIT_SECONDS = 75.0
"""How long a process waits for the refresh of another one."""
PAUSE_SECONDS = 0.05
_REFRESHES: set["asyncio.Task[TokenSet]"] = set()
"""Refreshes under way. Each ends also when its run is cancelled: a provider may have replaced the refresh token."""


@dataclass(frozen=True, slots=True)
class ConnectionTokens:
    """Access tokens.

    Args:
        database: The database of tokens.
        box: Encrypts them.
        http: Sends requests to providers.
    """

    database: Database
    box: SecretBox
    http: ProviderHttp

    async def access_token(self, connection: ConnectionRow, client_secret: str, *, rejected: str = "") -> SecretStr:
        """Return an access token that is valid and is not `rejected`, refreshed where needed.

        Raises `ConnectionUnusable` when the user must authorize the connection again, `ProviderFailed`.
        """
        deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            row = await self._find(connection)
            tokens = self._opened(connection, row)
            usable = tokens if tokens is not None and tokens.access != rejected else None
            if usable is not None and not _is_past(usable.refresh_at):
                return SecretStr(usable.read().access)
            if tokens is not None and not _is_past(tokens.expires_at) and not _is_renewable(connection, tokens):
                if row is not None and tokens.access == rejected:
                    await self._reject(connection, row.revision)
                return SecretStr(tokens.read().access)  # a server that rejects one request has not ended the grant
            if await self._claim(connection, row, lease := new_id()):
                refresh = asyncio.create_task(self._refresh(connection, client_secret, tokens, lease))
                _REFRESHES.add(refresh)
                refresh.add_done_callback(_ended)
                return SecretStr((await asyncio.shield(refresh)).access)
            if usable is not None and not _is_past(usable.expires_at):
                return SecretStr(usable.read().access)  # another process refreshes it
            await asyncio.sleep(PAUSE_SECONDS)
        raise ProviderFailed(
            f"The access token of the connection '{connection.name}' is being refreshed for too long.",
            remedy="Try again.",
        )

    async def recall(self, connection: ConnectionRow) -> None:
        """Read the current tokens, for redaction."""
        tokens = self._opened(connection, await self._find(connection))
        if tokens is not None:
            tokens.read()

    async def revoke(self, connection: ConnectionRow, client_secret: str) -> bool:
        """Revoke the tokens at the provider (RFC 7009); return whether it confirmed. Raises `ProviderFailed`."""
        tokens = self._opened(connection, await self._find(connection))
        if tokens is None or not connection.fields.get("revocation_url"):
            return False
        url = str(connection.fields["revocation_url"])
        for token, hint in ((tokens.refresh, "refresh_token"), (tokens.access, "access_token")):
            if token:
                headers, body = messages().revocation_message(connection.fields, client_secret, token, hint)
                await post(self.http, url, headers, body)
        return True

    async def _reject(self, connection: ConnectionRow, revision: int) -> None:
        """Mark the connection: a user should authorize it again. Runs still try: another request may be accepted."""
        error = "A server rejected the access token (401), and the provider issued no refresh token."
        async with self.database.writing() as session:
            tenant_id = connection.tenant_id
            if await repository.reject_token(
                session, connection.id, tenant_id=tenant_id, revision=revision, error=error, at=now()
            ):
                principal = system_principal(connection.tenant_id, connection.space_id)
                payload = {"code": "token_rejected"}
                await record_of(session, principal, "connection.refresh_failed", connection, payload=payload)

    async def _find(self, connection: ConnectionRow) -> ConnectionToken | None:
        async with self.database.reading() as session:
            return await repository.find_token(session, connection.id, tenant_id=connection.tenant_id)

    def _opened(self, connection: ConnectionRow, row: ConnectionToken | None) -> TokenSet | None:
        if row is None:
            return None
        reach = _reach(connection)
        return unseal(self.box, row.sealed, scopes=row.scopes, expires_at=row.expires_at, reach=reach)

    async def _claim(self, connection: ConnectionRow, row: ConnectionToken | None, lease: str) -> bool:
        at = now()
        async with self.database.writing() as session:
            return await repository.claim_refresh(
                session,
                connection.id,
                tenant_id=connection.tenant_id,
                revision=0 if row is None else row.revision,
                lease=lease,
                at=at,
                until=at + LEASE,
            )

    async def _refresh(
        self, connection: ConnectionRow, client_secret: str, old: TokenSet | None, lease: str
    ) -> TokenSet:
        try:
            tokens = await self._renewed(connection, client_secret, old)
        except BaseException as error:
            await asyncio.shield(self._failed(connection, lease, error))
            raise
        async with self.database.writing() as session:
            stored = await repository.finish_refresh(
                session,
                connection.id,
                tenant_id=connection.tenant_id,
                lease=lease,
                sealed=tokens.seal(self.box, _reach(connection)),
                scopes=tokens.scopes,
                expires_at=tokens.expires_at,
            )
            if stored:
                await connections.set_status(
                    session,
                    connection.id,
                    tenant_id=connection.tenant_id,
                    status="ready",
                    error=None,
                    tested_at=None,
                    authorized=True,
                )
        return tokens

    async def _renewed(self, connection: ConnectionRow, client_secret: str, old: TokenSet | None) -> TokenSet:
        fields = connection.fields
        if KINDS[connection.kind].grant == "client_credentials":
            scope = {"scope": str(fields["scopes"])} if fields.get("scopes") else {}
            return await fetch_tokens(self.http, fields, client_secret, "client_credentials", **scope)
        if old is None or not old.refresh:
            raise GrantEnded(
                "The access token has expired, and the provider issued no refresh token.",
                remedy="Authorize the connection again; ask for offline access in the scopes.",
            )
        new = await fetch_tokens(self.http, fields, client_secret, "refresh_token", refresh_token=old.refresh)
        return new if new.refresh else replace(new, refresh=old.refresh)

    async def _failed(self, connection: ConnectionRow, lease: str, error: BaseException) -> None:
        """End the claim; when the provider refused the authorization, mark the connection."""
        async with self.database.writing() as session:
            held = await repository.release(session, connection.id, tenant_id=connection.tenant_id, lease=lease)
            if held and isinstance(error, HeadgateError):
                status = "unauthorized" if isinstance(error, GrantEnded) else "failed"
                await connections.set_status(
                    session,
                    connection.id,
                    tenant_id=connection.tenant_id,
                    status=status,
                    error=error.detail,
                    tested_at=None,
                )
                principal = system_principal(connection.tenant_id, connection.space_id)
                payload = {"code": error.code}
                await record_of(session, principal, "connection.refresh_failed", connection, payload=payload)
        if isinstance(error, GrantEnded):
            raise ConnectionUnusable(
                f"The connection '{connection.name}' must be authorized again: {error.detail}",
                remedy=f"Authorize it in Settings, or with `headgate connections authorize {connection.name}`.",
            ) from error


def _is_renewable(connection: ConnectionRow, tokens: TokenSet) -> bool:
    return bool(tokens.refresh) or KINDS[connection.kind].grant == "client_credentials"


def _ended(refresh: "asyncio.Task[TokenSet]") -> None:
    _REFRESHES.discard(refresh)
    if not refresh.cancelled():
        refresh.exception()  # also when nobody waits for it any longer


def _reach(connection: ConnectionRow) -> frozenset[str]:
    return KINDS[connection.kind].reach(connection.fields)


def _is_past(moment: datetime | None) -> bool:
    return moment is not None and moment <= now()
