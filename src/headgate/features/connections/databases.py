"""Tables of the databases of connections, read with the connection's credential for a user who may run flows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from headgate.components.sql.components import in_database
from headgate.components.sql.statements import schema_rows
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.connections.errors import BadConnection, ConnectionNotFound
from headgate.features.connections.opening import Connections
from headgate.features.connections.schemas import DatabaseColumnOut, DatabaseTableOut
from headgate.features.connections.service import get_connection
from headgate.features.secrets.reads import ReadAudit
from headgate.foundation.api import Page
from headgate.sdk import SQL_KINDS

if TYPE_CHECKING:
    import sqlalchemy as sa

SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class DatabaseReader:
    """Lists tables of databases.

    Args:
        connections: Opens connections.
        reads_of: Records reads of secrets by a user.
    """

    connections: Connections
    reads_of: Callable[[Principal], ReadAudit]

    async def tables(
        self, principal: Principal, id_or_name: str, *, text: str, after: str, limit: int
    ) -> Page[DatabaseTableOut]:
        """Return tables and views with a text in a name, by name, with their columns. The database refuses changes.

        Raises `ConnectionNotFound`, `PermissionMissing` for a user who may not run drafts, who can read the same with a
        step, `BadConnection` for another kind, `ConnectionUnusable`, `UpstreamFailed`.
        """
        async with self.connections.database.reading() as session:
            row = await get_connection(session, principal, id_or_name)
        principal.require_in(row.space_id, Permission.RUNS_TEST, ConnectionNotFound(id_or_name))
        if row.kind not in SQL_KINDS:
            raise BadConnection(
                f"A connection of the kind {row.kind} has no tables.", remedy="Choose an SQL database or database file."
            )
        opened = await self.connections.opened(row, self.reads_of(within(principal, row.space_id)))

        def work(database: "sa.Connection") -> list[DatabaseTableOut]:
            quoted = database.dialect.identifier_preparer.quote
            records = schema_rows(database, text.strip(), after=after, most=limit + 1).records()
            by_table = groupby(records, key=lambda record: str(record["table"]))
            return [
                DatabaseTableOut(name=name, sql=quoted(name), columns=[_column(record, quoted) for record in of_table])
                for name, of_table in by_table
            ]

        tables = await in_database(opened, work, seconds=SECONDS, subject="The schema")
        return Page(items=tables[:limit], next_cursor=tables[limit - 1].name if len(tables) > limit else None)


def _column(record: Mapping[str, Any], quoted: Callable[[str], str]) -> DatabaseColumnOut:
    name = str(record["column"])
    return DatabaseColumnOut.model_validate({**record, "name": name, "sql": quoted(name)})
