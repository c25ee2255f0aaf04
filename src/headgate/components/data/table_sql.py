"""SQL over tables in memory: read-only, limited in time, rows and bytes. Blocking; call it in a thread."""

import json
import math
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing

from pydantic import JsonValue

from headgate.graph.names import clipped, did_you_mean, listed
from headgate.sdk import ComponentError, Table
from headgate.sdk.coerce import clean_text

MOST_ROWS = 100_000
MOST_CELLS = 2_000_000
SECONDS = 5.0
_LONGEST_VALUE = 2_000_000
"""Maximum value size in SQL, in bytes, unless a table contains a larger one: limits the time of one operation."""
_MOST_BYTES = 200_000_000
_LONGEST_SQL = 100_000
_STEPS_BETWEEN_LOOKS = 250
"""SQLite virtual machine operations between two checks of the clock; one may move a complete value."""
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33})  # 33: SQLITE_RECURSIVE
_REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "writefile", "readfile", "edit"})
_INT64 = 2**63
_WHATEVER_THE_COLUMNS = (
    *("syntax error", "incomplete input", "unrecognized token", "one statement", "not authorized", "prohibited"),
    *("no such table", "no such function", "wrong number of arguments", "misuse of", "cannot modify"),
)
"""SQLite errors for a query that is wrong for any table."""


def query(
    tables: Sequence[Table],
    sql: str,
    *,
    seconds: float = SECONDS,
    most_rows: int = MOST_ROWS,
    subject: str = "TableQuery",
) -> Table:
    """Return the result of one SELECT over tables; the first is `t` and `t1`, the others `t2`, `t3`...

    SQLite's dialect. Booleans are 1 and 0, nested values JSON text. Raises `ComponentError` for anything except
    reading, for too much time or too many rows, and for SQL errors, then with the tables and their columns.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        columns: dict[str, list[str]] = {}
        value_limit = _LONGEST_VALUE
        for number, table in enumerate(tables, start=1):
            rows = _stored_rows(table, number, subject)
            columns[f"t{number}"] = _load(connection, number, table.columns, rows, subject)
            value_limit = max(value_limit, _longest_text(rows))
        if "t1" in columns:
            connection.execute("CREATE VIEW t AS SELECT * FROM t1")
        _restrict(connection, value_limit)
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        try:
            cursor = connection.execute(sql)
            return _result(cursor, most_rows, subject)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, UnicodeError) as error:
            if time.monotonic() > deadline and "interrupted" in str(error):
                raise ComponentError(
                    f"{subject}: the query ran for more than {seconds:g} seconds and was stopped.",
                    remedy="Join fewer rows, or filter first.",
                    field="sql",
                ) from error
            raise _readable(error, columns, subject, [table.columns for table in tables]) from error


def check_sql(sql: str, *, tables: int, subject: str) -> None:
    """Raise `ComponentError` when SQL could not run over so many tables, regardless of their columns.

    It is prepared over empty tables and not executed; a missing column there is not an error.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        names = [f"t{number}" for number in range(1, tables + 1)]
        for name in names:
            connection.execute(f"CREATE TABLE {name} (column_1)")
        if names:
            connection.execute("CREATE VIEW t AS SELECT * FROM t1")
        _restrict(connection, _LONGEST_VALUE)
        try:
            connection.execute(f"EXPLAIN {sql}")
        except (sqlite3.Error, sqlite3.Warning, ValueError, UnicodeError) as error:
            if any(phrase in str(error) for phrase in _WHATEVER_THE_COLUMNS):
                raise _readable(error, {name: [] for name in names}, subject) from error


def _stored_rows(table: Table, number: int, subject: str) -> list[list[str | float | None]]:
    """Return the rows as stored in SQLite. Raises `ComponentError` when there are too many values."""
    if len(table.rows) * max(1, len(table.columns)) > MOST_CELLS:
        raise ComponentError(
            f"{subject}: table {number} has {len(table.rows)} rows of {len(table.columns)} columns; at most "
            f"{MOST_CELLS} values can be queried.",
            remedy="Select fewer rows or columns before.",
        )
    return [[_stored(value) for value in row] for row in table.rows] if table.columns else []


def _longest_text(rows: list[list[str | float | None]]) -> int:
    """Return the maximum size of the longest text, in bytes."""
    return max((len(value) * 4 for row in rows for value in row if isinstance(value, str)), default=0)


def _load(
    connection: sqlite3.Connection,
    number: int,
    columns: Sequence[str],
    rows: list[list[str | float | None]],
    subject: str,
) -> list[str]:
    """Create and fill `t<number>`; return the names of its columns."""
    names = _column_names(columns) or ["column_1"]
    try:
        declared = ", ".join(_quoted(name) for name in names)
        connection.execute(f"CREATE TABLE t{number} ({declared})")
        marks = ", ".join("?" * len(names))
        insert = f"INSERT INTO t{number} VALUES ({marks})"  # noqa: S608 - a number and question marks
        connection.executemany(insert, rows)
    except sqlite3.Error as error:
        raise ComponentError(f"{subject}: table {number} cannot be queried: {error}.") from error
    return names


def _column_names(columns: Sequence[str]) -> list[str]:
    """Return names that SQLite can distinguish: never empty, unique regardless of case."""
    names: dict[str, str] = {}
    for position, column in enumerate(columns, start=1):
        name = clean_text(column).strip() or f"column_{position}"
        number = 1
        unique = name
        while unique.lower() in names:
            number += 1
            unique = f"{name}_{number}"
        names[unique.lower()] = unique
    return list(names.values())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _stored(value: JsonValue) -> str | float | None:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=True)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return str(value)
    return value


def _restrict(connection: sqlite3.Connection, value_limit: int) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, value_limit)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_SQL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500)
    connection.set_authorizer(_authorize)


def _authorize(action: int, _first: str | None, second: str | None, _database: str | None, _view: str | None) -> int:
    """Authorize only reading: no writes, ATTACH, PRAGMA, extensions or files."""
    if action == sqlite3.SQLITE_FUNCTION and second in _REFUSED_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _result(cursor: sqlite3.Cursor, most_rows: int, subject: str) -> Table:
    if cursor.description is None:
        raise ComponentError(f"{subject}: the SQL returns no rows.", remedy="Write a SELECT.", field="sql")
    names = _column_names([column[0] for column in cursor.description])
    rows: list[list[JsonValue]] = []
    size = 0
    for row in cursor:
        rows.append([_given(value) for value in row])
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) > most_rows or size > _MOST_BYTES:
            limit = f"{most_rows} rows" if len(rows) > most_rows else f"{_MOST_BYTES // 1_000_000} MB"
            raise ComponentError(
                f"{subject}: the result has more than {limit}.", remedy="Add a WHERE, GROUP BY or LIMIT.", field="sql"
            )
    return Table(columns=names, rows=rows)


def _given(value: str | float | bytes | None) -> JsonValue:
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _readable(
    error: Exception, columns: dict[str, list[str]], subject: str, table_columns: Sequence[Sequence[str]] = ()
) -> ComponentError:
    """Return SQLite's message with a remedy for the author."""
    message = str(error)
    if any(phrase in message for phrase in ("not authorized", "prohibited", "authorization denied")):
        return ComponentError(
            f"{subject}: only read access is allowed: {message}.", remedy="Write one SELECT.", field="sql"
        )
    if "one statement" in message:
        return ComponentError(f"{subject}: there is more than one statement.", remedy="Write one SELECT.", field="sql")
    known_columns = [name for names in columns.values() for name in names]
    column = message.partition("no such column: ")[2].rpartition(".")[2]
    empty = [name for name, of in zip(columns, table_columns, strict=False) if not of]
    if column and empty:
        return ComponentError(
            f"{subject}: there is no column '{clipped(column, 60)}': {listed(empty)} arrived without rows and columns.",
            remedy="An empty list has no column names. Put an If before, or check the source of the table.",
            field="sql",
        )
    tables = "; ".join(f"{name} ({listed(names, most=30)})" for name, names in columns.items())
    return ComponentError(
        f"{subject}: {clipped(message, 300)}{did_you_mean(column, known_columns) if column else ''}.",
        remedy=f"The tables are: {tables or 'none'}; t is t1. Put names with spaces in double quotes.",
        field="sql",
    )
