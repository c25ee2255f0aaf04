"""Everything a tenant has in the database: to see that nothing of it shows, and that nothing of it changes."""

import functools
import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, event, select, text
from sqlalchemy.ext.asyncio import AsyncSession

import headgate
from headgate.features.access.principal import Principal
from headgate.foundation.database import Database, metadata

NO_TENANT = {
    "scheduled_jobs": "jobs of the whole installation",
    "installation_keys": "which keys the installation has, and never a key",
    "key_readers": "processes of the whole installation",
    "processes": "processes of the whole installation",
    "packs": "packs of the whole installation",
    "pack_items": "their parts",
    "pack_components": "their code, as its authors distribute it",
    "pack_signers": "signing keys that the whole installation trusts",
    "passkey_challenges": "random bytes that a browser is to sign; of nobody until it has",
}
"""Tables that belong to nobody, and why."""
BY_FLOW = ("version_steps", "version_edges")
"""Tables whose tenant is their flow's."""
BY_SESSION = ("codev_events", "codev_notices", "codev_writes")
"""Tables whose tenant is their development session's."""
BY_RUN = ("flow_run_events",)
"""Tables whose tenant is their run's."""
_TELLING = re.compile(r"^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64})$")
"""Ids and hashes: values that nobody guesses, so that whoever shows one has read it."""
_ASKING = re.compile(r"\s*(?:SELECT|WITH|SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT)\b", re.IGNORECASE)
_CHANGING = re.compile(r"\b(?:INSERT|UPDATE|DELETE|REPLACE|MERGE)\b", re.IGNORECASE)

for _module in pkgutil.walk_packages(headgate.__path__, "headgate."):
    if _module.name.rpartition(".")[2] == "tables":
        importlib.import_module(_module.name)


def owned_tables() -> Iterable[tuple[Table, Any]]:
    """Each table with the column that says whose a row is. Fails on one that nobody here knows."""
    flows, sessions = metadata.tables["flows"], metadata.tables["codev_sessions"]
    runs = metadata.tables["flow_runs"]
    for table in metadata.sorted_tables:
        if table.name in NO_TENANT:
            continue
        if table.name == "tenants":
            yield table, table.c.id
        elif table.name in BY_FLOW:
            yield table, select(flows.c.tenant_id).where(flows.c.id == table.c.flow_id).scalar_subquery()
        elif table.name in BY_SESSION:
            yield table, select(sessions.c.tenant_id).where(sessions.c.id == table.c.session_id).scalar_subquery()
        elif table.name in BY_RUN:
            yield table, select(runs.c.tenant_id).where(runs.c.id == table.c.flow_run_id).scalar_subquery()
        else:
            assert "tenant_id" in table.c, (
                f"Table '{table.name}' has no tenant_id. Give it one, or say in {__name__} whose its rows are."
            )
            yield table, table.c.tenant_id


async def rows_of(database: Database, principal: Principal) -> dict[str, list[str]]:
    """Table to its rows of a tenant, as text, sorted."""
    async with database.reading() as session:
        return await rows_in(session, principal)


async def rows_in(session: AsyncSession, principal: Principal) -> dict[str, list[str]]:
    """The same as a transaction sees it that may have changed them."""
    connection = await session.connection()
    return await connection.run_sync(_rows_of, principal.tenant_id)


def _rows_of(connection: Connection, tenant_id: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, query in _queries().items():
        found[name] = sorted(str(tuple(row)) for row in connection.execute(query, {"tenant": tenant_id}))
    return found


@functools.cache
def _queries() -> dict[str, Select[Any]]:
    """Table to the question for a tenant's rows: made once, since hundreds of looks ask all of them."""
    return {table.name: select(table).where(owner == bindparam("tenant")) for table, owner in owned_tables()}


class Writes:
    """Knows whether anything was written since the last look: all tables are only read again after that."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last: str | None = None
        path = database.engine.url.database if database.dialect == "sqlite" else None
        self._file = None if path is None else sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    async def were_made(self) -> bool:
        """Whether there were any since the last call; True for the first."""
        last, self._last = self._last, await self._position()
        return self._last != last

    async def _position(self) -> str:
        """What every commit changes: SQLite's version of the data for one connection, the end of PostgreSQL's log."""
        if self._file is not None:
            return str(self._file.execute("PRAGMA data_version").fetchone())
        async with self._database.reading() as session:
            return str(await session.scalar(text("SELECT pg_current_wal_insert_lsn()::text")))


async def changing_statements(session: AsyncSession) -> list[str]:
    """The statements of a session from now on that are more than a question; the list grows as they are executed."""
    statements: list[str] = []
    connection = (await session.connection()).sync_connection

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if _CHANGING.search(statement) or not _ASKING.match(statement):
            statements.append(statement)

    event.listen(connection, "before_cursor_execute", note)
    return statements


async def telling_values(database: Database, principal: Principal) -> set[str]:
    """Every id and hash in the rows of a tenant."""
    found: set[str] = set()
    async with database.reading() as session:
        for table, owner in owned_tables():
            for row in (await session.execute(select(table).where(owner == principal.tenant_id))).all():
                found |= {value for value in row if isinstance(value, str) and _TELLING.match(value)}
    return found


def digest(rows: dict[str, list[str]]) -> dict[str, str]:
    """Short enough to compare in a message."""
    return {name: f"{len(found)} {sha256(''.join(found).encode()).hexdigest()[:12]}" for name, found in rows.items()}
