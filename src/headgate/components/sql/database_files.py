"""Databases in a file (SQLite, DuckDB) of a folder that the operator opened. Blocking; call it in a thread.

Neither reaches another file, loads an extension or changes its settings, whatever the SQL or the file says.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from headgate.components.storage.paths import clean_path
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection

if TYPE_CHECKING:
    import duckdb
    import duckdb_sqlalchemy
    import sqlalchemy as sa
    from sqlalchemy import exc
else:
    duckdb = lazy_module("duckdb")
    sa = lazy_module("sqlalchemy")
    exc = lazy_module("sqlalchemy.exc")
    duckdb_sqlalchemy = lazy_module("duckdb_sqlalchemy")

SQLITE_HEAD = b"SQLite format 3\0"
"""First bytes of a database of SQLite."""
LONGEST_VALUE = 50_000_000
"""Bytes of one value in SQLite."""
_BUSY_SECONDS = 5
_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_TRANSACTION})
_WRITES = frozenset(
    {
        *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_REINDEX),
        *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_VIEW),
        *(sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_INDEX, sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_ALTER_TABLE),
    }
)
_PRAGMAS = frozenset(
    {"foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo"}
)
"""What SQLAlchemy reads of tables; they change nothing."""
_FUNCTIONS_REFUSED = frozenset({"load_extension", "fts3_tokenizer"})
_PAGES = "sqlite_dbpage"
"""A table through which SQLite writes pages of the file past its own checks."""
_DUCKDB = {
    "enable_external_access": "false",  # files, ATTACH, COPY, INSTALL
    "python_enable_replacements": "false",  # tables named like variables of this program
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "temp_directory": "",
    "memory_limit": "512MB",
    "threads": "1",
    "lock_configuration": "true",
}
_STATEMENTS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE_INTO", "CREATE", "DROP", "ALTER"})
_PLANNED = _STATEMENTS - {"DROP", "ALTER"}
_SCHEMA_FUNCTIONS = frozenset(
    {
        *("DUCKDB_TABLES", "DUCKDB_VIEWS", "DUCKDB_COLUMNS", "DUCKDB_SCHEMAS", "DUCKDB_CONSTRAINTS", "DUCKDB_INDEXES"),
        *("DUCKDB_SEQUENCES", "DUCKDB_TYPES", "PRAGMA_SHOW", "PRAGMA_TABLE_INFO"),
    }
)
"""Functions of the plan that show the tables of the file, and nothing of the server."""
_EARLY = frozenset({"current_setting", "query", "query_table"})
"""Functions that DuckDB evaluates before there is a plan: the second and third run a text."""
_DEFINITIONS = (
    "SELECT sql FROM duckdb_views() WHERE NOT internal UNION ALL "
    "SELECT macro_definition FROM duckdb_functions() WHERE NOT internal AND macro_definition IS NOT NULL UNION ALL "
    "SELECT column_default FROM duckdb_columns() WHERE NOT internal AND column_default IS NOT NULL"
)


def file_creator(connection: Connection, *, read_only: bool, subject: str) -> Callable[[], Any]:
    """Return what opens the database file of a connection. Raises `ComponentError` when there is none.

    A database that does not exist yet is created by what writes to it.
    """
    path = _path(connection, subject)
    if read_only and not path.is_file():
        raise ComponentError(
            f"{subject}: there is no database '{clipped(connection.text('file'), 80)}' in the folder.",
            remedy="Check the file of the connection; SqlWrite with CREATE TABLE creates it.",
        )
    return (_sqlite if connection.text("dialect") == "sqlite" else _duckdb)(path, read_only)


def _path(connection: Connection, subject: str) -> Path:
    """Return the place of the file. A link that leads out of the folder is refused."""
    if connection.folder is None or not connection.folder.path.is_dir():
        raise ComponentError(
            f"The folder of the connection '{connection.name}' does not exist.",
            remedy="Ask the operator to create it, or to correct HEADGATE_CONNECTIONS__FOLDERS.",
        )
    root = Path(os.path.realpath(connection.folder.path))
    file = clean_path(connection.text("file"), subject=subject, field="file")
    path = Path(os.path.realpath(root / file))
    if not file or not path.is_relative_to(root) or path.is_dir():
        raise ComponentError(
            f"{subject}: '{clipped(file, 80)}' is not a file of the folder.",
            remedy="Write the path of the file in the folder, such as data/shop.db.",
        )
    return path


def content_creator(content: bytes) -> Callable[[], Any]:
    """Return what opens a database of SQLite in memory, for reading. Raises `sqlite3.Error` when called."""
    legacy = content[:18] + b"\x01\x01" + content[20:]  # not WAL, of which another file would be needed

    def connect() -> Any:  # noqa: ANN401 - a connection of the driver
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.deserialize(legacy)
        return _restricted(database, read_only=True)

    return connect


def _sqlite(path: Path, read_only: bool) -> Callable[[], Any]:  # noqa: FBT001
    def connect() -> Any:  # noqa: ANN401
        mode = "ro" if read_only else "rwc"
        uri = f"file:{quote(str(path))}?mode={mode}"
        database = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        return _restricted(database, read_only=read_only)

    return connect


def _restricted(database: sqlite3.Connection, *, read_only: bool) -> sqlite3.Connection:
    """Return the database, which reaches no other file and changes no setting."""

    def authorize(action: int, first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
        if action == sqlite3.SQLITE_PRAGMA:
            name = (first or "").lower()
            allowed = name in _PRAGMAS or (name == "read_uncommitted" and second is None)
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() not in _FUNCTIONS_REFUSED
        else:
            allowed = action in _READS or (not read_only and action in _WRITES and (first or "").lower() != _PAGES)
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    for setting in ("trusted_schema = off", "cell_size_check = on", "mmap_size = 0", "foreign_keys = on"):
        database.execute(f"PRAGMA {setting}")
    database.execute(f"PRAGMA query_only = {'on' if read_only else 'off'}")
    with suppress(AttributeError):  # Python 3.11 cannot set it; the authorizer refuses the same
        database.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)  # type: ignore[attr-defined, unused-ignore]
    database.set_authorizer(authorize)
    return database


def _duckdb(path: Path, read_only: bool) -> Callable[[], Any]:  # noqa: FBT001
    """The wrapper shares one connection among cursors: those of DuckDB have their own, and their own transaction."""
    return lambda: duckdb_sqlalchemy.ConnectionWrapper(
        duckdb.connect(str(path), read_only=read_only, config=dict(_DUCKDB))
    )


def check_duckdb(database: "sa.Connection", statement: "sa.TextClause", values: Mapping[str, Any]) -> None:
    """Raise `ComponentError` for a statement of DuckDB that could show where the file is on the server, or more.

    Allowed is one statement on tables. The plan shows the table functions that it reads, however they are written; what
    DuckDB evaluates before there is a plan is refused by name, also in views, macros and defaults of the file.
    """
    sql = str(statement.compile(dialect=database.dialect))
    driver: Any = database.connection.dbapi_connection
    try:
        parsed = driver.extract_statements(sql)
    except duckdb.Error as error:
        raise exc.ProgrammingError(sql, None, error) from error
    if len(parsed) != 1 or parsed[0].type.name not in _STATEMENTS:
        raise _not_allowed("write one statement that reads or writes tables")
    stored = [row[0] for row in database.exec_driver_sql(_DEFINITIONS)]
    name = next((name for text in (sql, *stored) for name in _called(text) if name in _EARLY), "")
    if name:
        raise _not_allowed(f"the function {name} is not available")
    if parsed[0].type.name in _PLANNED:
        ((_, plan),) = database.execute(sa.text(f"EXPLAIN (FORMAT json) {statement.text}"), values)
        functions = sorted(set(_functions(json.loads(plan))) - _SCHEMA_FUNCTIONS)
        if functions:
            raise _not_allowed(f"{functions[0].lower()} is not available")


def _called(sql: str) -> Iterator[str]:
    """Yield the names in a text that a bracket follows, in lower case, quoted or not, with a comment between or not."""
    text = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [*(offset for offset, _ in tokens[1:]), len(text)]
    words = [
        text[start:end].decode(errors="replace").strip()
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind.name != "comment"
    ]
    for word, following in pairwise(words):
        if following.startswith("("):
            yield word.strip('"').lower()


def _functions(plan: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    for part in plan:
        if part["name"].startswith(("DUCKDB_", "PRAGMA_")):
            yield part["name"]
        yield from _functions(part["children"])


def _not_allowed(reason: str) -> ComponentError:
    return ComponentError(
        f"The statement is not allowed in a database file: {reason}.",
        remedy="Read and write the tables of the file; information_schema lists them.",
        field="sql",
    )
