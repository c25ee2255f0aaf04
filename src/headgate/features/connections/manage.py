"""Operations on connections that reach their servers: test, browsing, deletion. No transaction is open meanwhile."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from headgate.components.isolated.calls import Runners
from headgate.components.storage.paths import clean_path
from headgate.components.storage.storage import MOST_LISTED, Entry, opened_storage
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.audit.recorder import record_of
from headgate.features.connections import repository, service
from headgate.features.connections.apis.reader import ApiReader
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.databases import DatabaseReader
from headgate.features.connections.errors import BadConnection, ConnectionNotFound
from headgate.features.connections.oauth.authorizing import Authorizations
from headgate.features.connections.oauth.provider import ProviderHttp
from headgate.features.connections.opening import Connections
from headgate.features.connections.probes import Outcome, probe
from headgate.features.connections.schemas import ConnectionTestOut, StoredFileOut
from headgate.features.connections.tables import ConnectionRow
from headgate.features.secrets.reads import ReadAudit
from headgate.foundation.api import Page
from headgate.foundation.database import now
from headgate.foundation.errors import HeadgateError
from headgate.sdk import STORAGE_KINDS, ComponentError, Connection


@dataclass(frozen=True, slots=True)
class ConnectionManager:
    """Tests and deletes connections for users.

    Args:
        connections: Opens them.
        reads_of: Records reads of secrets by a user.
        seconds: Timeout of a test.
        http: Sends requests to OAuth providers.
        runners: Processes that parse descriptions of APIs.
    """

    connections: Connections
    reads_of: Callable[[Principal], ReadAudit]
    seconds: float
    http: ProviderHttp
    runners: Runners

    @property
    def apis(self) -> ApiReader:
        """Reads descriptions of APIs."""
        return ApiReader(self.connections.database, self.connections.http, self.runners)

    @property
    def databases(self) -> DatabaseReader:
        """Lists tables of databases."""
        return DatabaseReader(self.connections, self.reads_of)

    @property
    def authorizations(self) -> Authorizations:
        """Authorizations of connections with OAuth."""
        opener = self.connections

        async def client_secret(row: ConnectionRow, principal: Principal) -> str:
            return await opener.client_secret(row, self.reads_of(within(principal, row.space_id)))

        return Authorizations(opener.database, opener.box, self.http, client_secret)

    async def test(self, principal: Principal, id_or_name: str) -> ConnectionTestOut:
        """Make the test call of a connection and store its outcome. A failed test is an answer, not an error."""
        row = await self.find(principal, id_or_name)
        started = time.perf_counter()
        try:
            opened = await self.connections.opened(row, self.reads_of(within(principal, row.space_id)), testing=True)
            outcome = await probe(KINDS[row.kind].probe, opened, self.seconds)
        except HeadgateError as error:
            outcome = Outcome(ok=False, message=error.detail, remedy=error.remedy)
        ms = round((time.perf_counter() - started) * 1000, 1)
        async with self.connections.database.writing() as session:
            await repository.set_status(
                session,
                row.id,
                tenant_id=row.tenant_id,
                status=await self._status(row, ok=outcome.ok),
                error=None if outcome.ok else outcome.message[:2000],
                tested_at=now(),
            )
            await record_of(session, principal, "connection.tested", row, payload={"ok": outcome.ok})
        return ConnectionTestOut(ok=outcome.ok, message=outcome.message, remedy=outcome.remedy, ms=ms)

    async def browse(
        self, principal: Principal, id_or_name: str, folder: str, *, search: str = "", cursor: str = ""
    ) -> Page[StoredFileOut]:
        """Return a page of a folder of a storage. Raises `ConnectionNotFound`, `PermissionMissing`, and as `browse`."""
        async with self.connections.database.reading() as session:
            row = await service.get_connection(session, principal, id_or_name)
        principal.require_in(row.space_id, Permission.FLOWS_EDIT, ConnectionNotFound(id_or_name))
        require_storage(row.kind, row.name)
        opened = await self.connections.opened(row, self.reads_of(within(principal, row.space_id)))
        return await browse(opened, folder, search=search, cursor=cursor, seconds=self.seconds)

    async def delete(self, principal: Principal, id_or_name: str) -> None:
        """Revoke the tokens of a connection, and delete it. Raises `ConnectionNotFound`, `PermissionMissing`."""
        row = await self.find(principal, id_or_name)
        if KINDS[row.kind].grant:
            await self.connections.revoke(row, self.reads_of(within(principal, row.space_id)))
        async with self.connections.database.writing() as session:
            await service.delete_connection(session, principal, row.id)

    async def find(self, principal: Principal, id_or_name: str) -> ConnectionRow:
        """Return a connection that the user may change. Raises `ConnectionNotFound`, `PermissionMissing`."""
        async with self.connections.database.reading() as session:
            return await service.get_connection(session, principal, id_or_name, manage=True)

    async def _status(self, row: ConnectionRow, *, ok: bool) -> str:
        """Return the status after a test; a connection that must be authorized again stays so."""
        if ok:
            return "ready"
        async with self.connections.database.reading() as session:
            current = await repository.find(session, row.id, tenant_id=row.tenant_id, user_id=row.owner_id or "")
        return "unauthorized" if current is not None and current.status == "unauthorized" else "failed"


PAGE_SIZE = 100
_SUBJECT = "The folder"


def require_storage(kind: str, name: str) -> None:
    """Raise `BadConnection` for a kind without files."""
    if kind not in STORAGE_KINDS:
        raise BadConnection(
            f"The connection '{name}' is of the kind {kind}, which has no files.",
            remedy=f"Choose one of the kinds {', '.join(STORAGE_KINDS)}.",
        )


async def browse(
    connection: Connection, folder: str, *, search: str, cursor: str, seconds: float
) -> Page[StoredFileOut]:
    """Return a page of what is in a folder: folders first, then files, by name.

    Args:
        connection: A storage.
        folder: Path from the folder of the connection; empty is that folder.
        search: Only names that contain it, in upper or lower case.
        cursor: Of the page before; empty for the first. Entries that are added or deleted meanwhile move no other.
        seconds: Time limit.

    Raises:
        HeadgateError: The path is none, there is no such folder, or the storage cannot be used.
    """
    path = clean_path(folder, subject=_SUBJECT, field="folder")
    async with opened_storage(connection, seconds=seconds, subject=_SUBJECT) as storage:
        entries = await storage.list_folder(path)
    if len(entries) > MOST_LISTED:
        raise ComponentError(
            f"{_SUBJECT} has more than {MOST_LISTED:,} entries.", remedy="Write the path, or choose a smaller folder."
        )
    matching = [entry for entry in entries if search.casefold() in _name(entry).casefold() and _key(entry) > cursor]
    page = matching[:PAGE_SIZE]
    items = [_stored_file(entry) for entry in page]
    return Page(items=items, next_cursor=_key(page[-1]) if len(matching) > PAGE_SIZE else None)


def _stored_file(entry: Entry) -> StoredFileOut:
    size = 0 if entry.is_folder else entry.size
    return StoredFileOut(
        name=_name(entry), path=entry.path, is_folder=entry.is_folder, size=size, changed=entry.changed
    )


def _name(entry: Entry) -> str:
    return entry.path.rpartition("/")[2]


def _key(entry: Entry) -> str:
    """Return what the entries of a folder are sorted by, as text."""
    return f"{'dir' if entry.is_folder else 'file'}:{_name(entry)}"
