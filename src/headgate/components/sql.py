"""SQL over tables in memory: read-only, bounded in time, rows and bytes. Blocking; call it in a thread."""

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
"""Longest value that SQL may make, in bytes, unless a table holds a longer one: bounds the time of one operation."""
_MOST_BYTES = 200_000_000
_LONGEST_SQL = 100_000
_STEPS_BETWEEN_LOOKS = 250
"""Operations of SQLite's machine between two looks at the clock; one may move a whole value."""
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33})  # 33: SQLITE_RECURSIVE
_REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "writefile", "readfile", "edit"})
_INT64 = 2**63
_WHATEVER_THE_COLUMNS = (
    *("syntax error", "incomplete input", "unrecognized token", "one statement", "not authorized", "prohibited"),
    *("no such table", "no such function", "wrong number of arguments", "misuse of", "cannot modify"),
)
"""What SQLite says of a query that is wrong over any table."""


def query(
    tables: Sequence[Table], sql: str, *, seconds: float = SECONDS, most_rows: int = MOST_ROWS, who: str = "TableQuery"
) -> Table:
    """The result of one SELECT over tables; the first is `t` and `t1`, the others `t2`, `t3`...

    SQLite's dialect. Booleans are 1 and 0, nested values JSON text. Raises `ComponentError` on anything but reading,
    on too much time or too many rows, and on SQL errors, then with the tables and their columns.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        columns: dict[str, list[str]] = {}
        longest = _LONGEST_VALUE
        for number, table in enumerate(tables, start=1):
            rows = _stored_rows(table, number, who)
            columns[f"t{number}"] = _load(connection, number, table.columns, rows, who)
            longest = max(longest, _longest_text(rows))
        if "t1" in columns:
            connection.execute("CREATE VIEW t AS SELECT * FROM t1")
        _restrict(connection, longest)
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        try:
            cursor = connection.execute(sql)
            return _result(cursor, most_rows, who)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, UnicodeError) as error:
            if time.monotonic() > deadline and "interrupted" in str(error):
                raise ComponentError(
                    f"{who}: the query ran for more than {seconds:g} seconds and was stopped.",
                    remedy="Join on fewer rows, or filter first.",
                    field="sql",
                ) from error
            raise _readable(error, columns, who, [table.columns for table in tables]) from error


def check_sql(sql: str, *, tables: int, who: str) -> None:
    """Raise `ComponentError` where SQL could not run over so many tables, whatever their columns are.

    It is prepared over empty tables and not executed; that a column is missing there says nothing.
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
            if any(words in str(error) for words in _WHATEVER_THE_COLUMNS):
                raise _readable(error, {name: [] for name in names}, who) from error


def _stored_rows(table: Table, number: int, who: str) -> list[list[str | float | None]]:
    """The rows as SQLite holds them. Raises `ComponentError` when there are too many values."""
    if len(table.rows) * max(1, len(table.columns)) > MOST_CELLS:
        raise ComponentError(
            f"{who}: table {number} has {len(table.rows)} rows of {len(table.columns)} columns; "
            f"at most {MOST_CELLS} values are queried.",
            remedy="Select fewer rows or columns before.",
        )
    return [[_stored(value) for value in row] for row in table.rows] if table.columns else []


def _longest_text(rows: list[list[str | float | None]]) -> int:
    """Bytes of the longest text, at most."""
    return max((len(value) * 4 for row in rows for value in row if isinstance(value, str)), default=0)


def _load(
    connection: sqlite3.Connection, number: int, columns: Sequence[str], rows: list[list[str | float | None]], who: str
) -> list[str]:
    """Create and fill `t<number>`; the names its columns got."""
    names = _column_names(columns) or ["column_1"]
    try:
        declared = ", ".join(_quoted(name) for name in names)
        connection.execute(f"CREATE TABLE t{number} ({declared})")
        marks = ", ".join("?" * len(names))
        insert = f"INSERT INTO t{number} VALUES ({marks})"  # noqa: S608 - a number and question marks
        connection.executemany(insert, rows)
    except sqlite3.Error as error:
        raise ComponentError(f"{who}: table {number} cannot be queried: {error}.") from error
    return names


def _column_names(columns: Sequence[str]) -> list[str]:
    """Names that SQLite can tell apart: never empty, unlike each other without regard to case."""
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


def _restrict(connection: sqlite3.Connection, longest: int) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_SQL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500)
    connection.set_authorizer(_authorize)


def _authorize(action: int, _first: str | None, second: str | None, _database: str | None, _view: str | None) -> int:
    """Reading only: no writes, ATTACH, PRAGMA, extensions or files."""
    if action == sqlite3.SQLITE_FUNCTION and second in _REFUSED_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _result(cursor: sqlite3.Cursor, most_rows: int, who: str) -> Table:
    if cursor.description is None:
        raise ComponentError(f"{who}: the SQL gives no rows.", remedy="Write a SELECT.", field="sql")
    names = _column_names([column[0] for column in cursor.description])
    rows: list[list[JsonValue]] = []
    held = 0
    for row in cursor:
        rows.append([_given(value) for value in row])
        held += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) > most_rows or held > _MOST_BYTES:
            what = f"{most_rows} rows" if len(rows) > most_rows else f"{_MOST_BYTES // 1_000_000} MB"
            raise ComponentError(
                f"{who}: the result has more than {what}.", remedy="Add a WHERE, GROUP BY or LIMIT.", field="sql"
            )
    return Table(columns=names, rows=rows)


def _given(value: str | float | bytes | None) -> JsonValue:
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _readable(
    error: Exception, columns: dict[str, list[str]], who: str, given: Sequence[Sequence[str]] = ()
) -> ComponentError:
    """SQLite's message with what the writer can do about it."""
    message = str(error)
    if any(word in message for word in ("not authorized", "prohibited", "authorization denied")):
        return ComponentError(f"{who}: only reading is allowed: {message}.", remedy="Write one SELECT.", field="sql")
    if "one statement" in message:
        return ComponentError(f"{who}: there is more than one statement.", remedy="Write one SELECT.", field="sql")
    known = [name for names in columns.values() for name in names]
    wrong = message.partition("no such column: ")[2].rpartition(".")[2]
    empty = [name for name, of in zip(columns, given, strict=False) if not of]
    if wrong and empty:
        return ComponentError(
            f"{who}: there is no column '{clipped(wrong, 60)}': {listed(empty)} came without rows and columns.",
            remedy="An empty list has no column names. Put an If before, or see what gives the table.",
            field="sql",
        )
    tables = "; ".join(f"{name} ({listed(names, most=30)})" for name, names in columns.items())
    return ComponentError(
        f"{who}: {clipped(message, 300)}{did_you_mean(wrong, known) if wrong else ''}.",
        remedy=f"The tables are: {tables or 'none'}; t is t1. Put names with spaces in double quotes.",
        field="sql",
    )
