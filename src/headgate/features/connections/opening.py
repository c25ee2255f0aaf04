"""Opens connections for runs and tests: resolves the name, writes the read down, decrypts, adds the credential."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from headgate.features.connections import repository, service
from headgate.features.connections.apis.service import operation_of
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.errors import ConnectionUnusable
from headgate.features.connections.http import ConnectionHttp, GuardedClient, bearer, static_credential
from headgate.features.connections.kinds import Kind
from headgate.features.connections.outside.values import OutsideValues
from headgate.features.connections.sealed import unseal
from headgate.features.connections.tables import ConnectionRow
from headgate.features.secrets.reads import STORED_WITH, ReadAudit
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import Credential, LocalProxy
from headgate.foundation.log import get_logger
from headgate.foundation.settings.connections import FolderSettings
from headgate.sdk import Connection
from headgate.sdk.connections import DescribedOperation, OpenedFolder

log = get_logger(__name__)
READ_AS = f"connection{STORED_WITH}"
"""Begins the name of a connection in the audit of secret reads."""
USED_EVERY = timedelta(minutes=1)
"""How exactly the last use is stored."""


class ProxyOpener(Protocol):
    """Opens a proxy on loopback that reaches some servers only: `GuardedHttp.local_proxy`."""

    def __call__(self, servers: Iterable[str], *, most_bytes: int) -> AbstractAsyncContextManager[LocalProxy]:
        """Open it for a block."""


class Tokens(Protocol):
    """Access tokens of connections with OAuth."""

    async def access_token(self, connection: ConnectionRow, client_secret: str, *, rejected: str = "") -> SecretStr:
        """Return a valid access token, refreshed where needed; another one than `rejected`.

        Raises `ConnectionUnusable` when the user must authorize the connection again.
        """

    async def recall(self, connection: ConnectionRow) -> None:
        """Read the current tokens, for redaction."""

    async def revoke(self, connection: ConnectionRow, client_secret: str) -> bool:
        """Revoke the tokens at the provider; return whether it confirmed."""


@dataclass(frozen=True, slots=True)
class Connections:
    """Opens connections of any tenant. No database connection is held while a connection is in use.

    Args:
        database: The database of connections.
        box: Decrypts secrets.
        http: Sends HTTP requests.
        resolve: Returns the checked addresses of a server.
        outside: Reads secrets that are stored outside.
        tokens: Access tokens.
        proxy: Opens proxies for libraries with their own HTTP client.
        folders: Folders of the server that the operator opened, by name.
    """

    database: Database
    box: SecretBox
    http: GuardedClient
    resolve: Callable[[str, int], Awaitable[Sequence[str]]]
    outside: OutsideValues
    tokens: Tokens
    proxy: ProxyOpener
    folders: Mapping[str, FolderSettings] = field(default_factory=dict)

    async def open(self, *, tenant_id: str, space_id: str, user_id: str, name: str, audit: ReadAudit) -> Connection:
        """Open the connection that a run of a user uses for a name; an empty user has no own ones.

        Raises `ConnectionNotFound`, `ConnectionUnusable`, `VaultRefused`, `VaultFailed`.
        """
        async with self.database.reading() as session:
            row = await service.find_usable(session, name, tenant_id=tenant_id, space_id=space_id, user_id=user_id)
        connection = await self.opened(row, audit)
        await self._note_use(row)
        return connection

    async def recall(self, *, tenant_id: str, space_id: str, user_id: str, name: str) -> None:
        """Read the secrets of the connections again that a run may have used for a name, for redaction.

        The read is written down already. Raises when one cannot be read.
        """
        async with self.database.reading() as session:
            rows = await repository.list_connections(
                session, tenant_id=tenant_id, space_ids={space_id}, user_id=user_id, name=name
            )
        for row in rows:
            await self._secrets(row)
            await self.tokens.recall(row)

    async def opened(self, row: ConnectionRow, audit: ReadAudit, *, testing: bool = False) -> Connection:
        """Open a connection that was looked up. The read is written down before a secret is decrypted.

        A test opens an expired one, too.
        """
        kind = KINDS[row.kind]
        if not testing:
            _require_usable(row, kind)
        await audit.note(f"{READ_AS}{row.name}", "space")
        secrets = await self._secrets(row)
        hosts = tuple(row.hosts)
        plain = {name: value.get_secret_value() for name, value in secrets.items()}
        fixed = static_credential(kind, row.name, row.fields, plain, hosts)

        async def credential(renewed: bool) -> Credential | None:  # noqa: FBT001 - `CredentialOf`
            if kind.adds != "oauth":
                return fixed
            rejected = handed[-1] if renewed and handed else ""
            token = (
                await self.tokens.access_token(row, plain.get("client_secret", ""), rejected=rejected)
            ).get_secret_value()
            handed.append(token)
            return bearer(row.name, hosts, token)

        handed: list[str] = []
        http = ConnectionHttp(self.http, row.name, credential)

        async def operation(name: str) -> DescribedOperation:
            async with self.database.reading() as session:
                described = await operation_of(session, row, name)
            return DescribedOperation(described.contract or {}, described.changed)

        origins = [host for host in hosts if "://" in host]
        return Connection(
            row.name,
            row.kind,
            dict(row.fields),
            hosts,
            http,
            self.resolve,
            secrets,
            row.classification,
            operation,
            proxy=lambda most_bytes: self.proxy(origins, most_bytes=most_bytes),
            folder=self._folder(row) if kind.admins_only else None,
            id=row.id,
            max_concurrent=row.max_concurrent,
        )

    async def revoke(self, row: ConnectionRow, audit: ReadAudit) -> bool:
        """Revoke the tokens of a connection; return whether the provider confirmed.

        Never raises, neither for the provider nor for secrets that cannot be read: the connection can be deleted.
        """
        try:
            return await self.tokens.revoke(row, await self.client_secret(row, audit))
        except HeadgateError as error:
            log.warning("connection_token_not_revoked", connection=row.id, reason=error.code)
            return False

    async def client_secret(self, row: ConnectionRow, audit: ReadAudit) -> str:
        """Return the client secret of a connection; empty for a public client. The read is written down."""
        await audit.note(f"{READ_AS}{row.name}", "space")
        secret = (await self._secrets(row)).get("client_secret")
        return "" if secret is None else secret.get_secret_value()

    async def _secrets(self, row: ConnectionRow) -> dict[str, SecretStr]:
        secrets: dict[str, SecretStr] = {}
        for name, value in unseal(self.box, row.sealed).items():
            known = value if isinstance(value, SecretStr) else None
            if known is None and not isinstance(value, SecretStr):
                known = await self.outside.read(value, tenant_id=row.tenant_id, space_id=row.space_id)
            if known is not None:
                secret_values.read(known.get_secret_value())
                secrets[name] = known
        return secrets

    def _folder(self, row: ConnectionRow) -> OpenedFolder:
        name = str(row.fields.get("folder") or "")
        if name not in self.folders:
            raise ConnectionUnusable(
                f"The operator has opened no folder '{name}'.",
                remedy="The operator sets HEADGATE_CONNECTIONS__FOLDERS.",
            )
        opened = self.folders[name]
        return OpenedFolder(
            Path(opened.path.replace("{tenant_id}", row.tenant_id).replace("{space_id}", row.space_id)),
            opened.writable,
        )

    async def _note_use(self, row: ConnectionRow) -> None:
        at = now()
        if row.last_used_at is not None and at - row.last_used_at < USED_EVERY:
            return
        async with self.database.writing() as session:
            await repository.touch(session, row.id, tenant_id=row.tenant_id, at=at)


def _require_usable(row: ConnectionRow, kind: Kind) -> None:
    if row.expires_at is not None and row.expires_at <= now():
        raise ConnectionUnusable(
            f"The connection '{row.name}' expired on {row.expires_at:%Y-%m-%d}.",
            remedy="Give it a new secret and a new expiry date.",
        )
    if row.status == "unauthorized" and kind.grant:
        raise ConnectionUnusable(
            f"The connection '{row.name}' is not authorized.",
            remedy=f"Authorize it in Settings, or with `headgate connections authorize {row.name}`.",
        )
