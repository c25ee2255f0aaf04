"""The schema of one revision as SQL, for new SQLite databases: they begin there instead of with the first migration.

`make schema` writes it; a test compares it with what the migrations create. Migrations that are newer than the
snapshot run after it.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

SNAPSHOT = Path(__file__).parents[1] / "migrations" / "sqlite.sql"
_SEPARATOR = "\n--\n"
_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
"""Microseconds since 1970: of the first tenant, and from there of the other rows."""
_FIRST = "(SELECT created_at FROM tenants)"
_OBJECTS = text("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type <> 'table', rowid")
_VIRTUAL = "CREATE VIRTUAL TABLE"


def create(connection: Connection) -> None:
    """Create the schema of the snapshot in an empty database, in the connection's transaction."""
    for statement in SNAPSHOT.read_text(encoding="utf-8").split(_SEPARATOR):
        connection.exec_driver_sql(statement)


def written(connection: Connection) -> str:
    """The schema of a migrated database, with its first rows, as `create` reads it."""
    objects = [(str(kind), str(name), str(sql)) for kind, name, sql in connection.execute(_OBJECTS)]
    virtual = tuple(f"{name}_" for _, name, sql in objects if sql.startswith(_VIRTUAL))
    own = [entry for entry in objects if not entry[1].startswith((*virtual, "sqlite_"))]
    tables = [name for kind, name, sql in own if kind == "table" and not sql.startswith(_VIRTUAL)]
    created_at = connection.execute(text("SELECT created_at FROM tenants")).scalar_one()
    rows = [row for name in tables for row in _rows(connection, name, created_at)]
    schema = [sql for kind, _, sql in own if kind == "table"], [sql for kind, _, sql in own if kind != "table"]
    # Rows refer to each other: the order does not matter until the transaction ends.
    return _SEPARATOR.join(["PRAGMA defer_foreign_keys = ON", *schema[0], *rows, *schema[1]])


def _rows(connection: Connection, table: str, created_at: int) -> list[str]:
    rows = connection.exec_driver_sql(f'SELECT * FROM "{table}"')  # noqa: S608 - a name from the schema
    now = _NOW if table == "tenants" else _FIRST
    values = [", ".join(now if value == created_at else _literal(value) for value in row) for row in rows]
    return [f'INSERT INTO "{table}" VALUES ({row})' for row in values]  # noqa: S608 - literals of first rows


def _literal(value: Any) -> str:  # noqa: ANN401 - any value of a column
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
