"""Statements with bound values, and their results as tables. Blocking; call it in a thread."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, time
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from headgate.components.readers.delimited import column_names
from headgate.components.sql.database_files import check_duckdb
from headgate.components.sql.transact_sql import one_select, write_records
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped, did_you_mean, listed
from headgate.sdk import ComponentError, Table
from headgate.sdk.coerce import clean_text

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy import exc
    from sqlalchemy.dialects import mysql, postgresql, sqlite
else:
    sa = lazy_module("sqlalchemy")
    exc = lazy_module("sqlalchemy.exc")
    mysql = lazy_module("sqlalchemy.dialects.mysql")
    postgresql = lazy_module("sqlalchemy.dialects.postgresql")
    sqlite = lazy_module("sqlalchemy.dialects.sqlite")

MOST_ROWS = 100_000
MOST_BYTES = 50_000_000
MOST_TABLES = 1_000
_BATCH = 1_000
_SELECT = re.compile(r"\s*(?:select|with|values)\b", re.IGNORECASE)
_TO_FILE = re.compile(r"outfile|dumpfile", re.IGNORECASE)
_INT64 = 2**63
Mode = Literal["insert", "upsert", "statement"]


def run_query(database: "sa.Connection", sql: str, values: Mapping[str, JsonValue], *, most_rows: int) -> Table:
    """Return the rows of one SELECT. Raises `ComponentError` for too many rows, bytes, or a missing value."""
    rows: list[list[JsonValue]] = []
    size = 0
    with selected_rows(database, sql, values) as (columns, batches):
        for batch in batches:
            rows += batch
            size += sum(len(value) if isinstance(value, str) else 8 for row in batch for value in row)
            if len(rows) > most_rows or size > MOST_BYTES:
                limit = f"{most_rows} rows" if len(rows) > most_rows else f"{MOST_BYTES // 1_000_000} MB"
                raise ComponentError(
                    f"SqlQuery: the result has more than {limit}.",
                    remedy="Add a WHERE, GROUP BY or LIMIT, or use the output csv.",
                    field="sql",
                )
    return Table(columns=columns, rows=rows)


@contextmanager
def selected_rows(
    database: "sa.Connection", sql: str, values: Mapping[str, JsonValue]
) -> Iterator[tuple[list[str], Iterator[list[list[JsonValue]]]]]:
    """Yield the columns of one SELECT, and its rows in batches as they arrive."""
    if database.dialect.name in {"mysql", "mariadb"}:
        require_select(sql)
    if database.dialect.name == "mssql":
        sql = one_select(sql)  # its driver streams by itself
    else:
        database = database.execution_options(stream_results=True, max_row_buffer=_BATCH)
    result = _execute(database, sql, values, "SqlQuery")
    with closing(result):
        if not result.returns_rows:
            raise ComponentError("SqlQuery: the SQL returns no rows.", remedy="Write one SELECT.", field="sql")
        batches = ([[value_of(value) for value in row] for row in batch] for batch in result.partitions(_BATCH))
        yield column_names(list(result.keys())), batches


def require_select(sql: str) -> None:
    """Raise `ComponentError` for what a read-only transaction of MySQL and MariaDB does not refuse.

    Other statements end the transaction: compound statements, calls of procedures, changes of tables and variables.
    A SELECT cannot, also not in its functions; what it writes to a file is refused here.
    """
    if not _SELECT.match(sql) or _TO_FILE.search(sql):
        raise ComponentError(
            "SqlQuery: the SQL is not a SELECT, or writes to a file.",
            remedy="Begin with SELECT, WITH or VALUES; put the words outfile and dumpfile into the parameters.",
            field="sql",
        )


def run_statement(database: "sa.Connection", sql: str, records: Sequence[Mapping[str, JsonValue]]) -> int:
    """Run one statement for each record, whose members are its bound values; return the number of changed rows."""
    changed = 0
    for record in records or [{}]:
        changed += max(_execute(database, sql, record, "SqlWrite").rowcount, 0)
    return changed


def write_rows(
    database: "sa.Connection", name: str, records: Sequence[Mapping[str, JsonValue]], *, keys: Sequence[str], mode: Mode
) -> int:
    """Insert records into a table, or update those whose key exists; return their number.

    The table and its columns are read from the database: a name from outside is never part of the SQL text.
    Raises `ComponentError` when the table or a column does not exist.
    """
    table = _table(database, name)
    columns = list(dict.fromkeys(column for record in records for column in record))
    _require_columns(table, [*columns, *keys], name)
    if not records:
        return 0
    if mode == "upsert" and not (keys := keys or [column.name for column in table.primary_key]):
        raise ComponentError("SqlWrite: the table has no primary key.", remedy="Name the key columns.", field="keys")
    if database.dialect.name == "mssql":
        write_records(database, table, columns, keys if mode == "upsert" else None, records)
        return len(records)
    statement: Any = _upsert(database, table, columns, keys) if mode == "upsert" else sa.insert(table)
    complete = [{column: record.get(column) for column in columns} for record in records]
    for begin in range(0, len(complete), _BATCH):
        database.execute(statement, complete[begin : begin + _BATCH])
    return len(complete)


def schema_rows(database: "sa.Connection", pattern: str, *, after: str = "", most: int = MOST_TABLES) -> Table:
    """Return one row per column of the tables and views that have the pattern in their name or in that of a column.

    Args:
        database: The database.
        pattern: Text to search for, in any case; empty for all.
        after: Only tables whose name is after this one.
        most: Maximum number of tables.
    """
    inspector = sa.inspect(database)
    searched, rows, count = pattern.lower(), list[list[JsonValue]](), 0
    for name in [name for name in table_names(database) if name > after][:MOST_TABLES]:
        columns = inspector.get_columns(name)
        if searched not in name.lower() and not any(searched in column["name"].lower() for column in columns):
            continue
        keys = set(inspector.get_pk_constraint(name).get("constrained_columns") or ())
        targets = _references(inspector, name)
        for column in columns:
            kind, nullable = str(column["type"]), bool(column.get("nullable", True))
            title = column["name"]
            rows.append([name, title, kind, nullable, title in keys, targets.get(title, "")])
        count += 1
        if count == most:
            break
    return Table(columns=["table", "column", "type", "nullable", "key", "references"], rows=rows)


def _references(inspector: "sa.Inspector", table: str) -> dict[str, str]:
    """Return the column that each column with a foreign key refers to, as `table.column`."""
    return {
        column: f"{key['referred_table']}.{target}"
        for key in inspector.get_foreign_keys(table)
        for column, target in zip(key["constrained_columns"], key["referred_columns"], strict=False)
    }


def table_names(database: "sa.Connection") -> list[str]:
    """Return the names of the tables and views, sorted."""
    inspector = sa.inspect(database)
    return sorted({*inspector.get_table_names(), *inspector.get_view_names()})


def value_of(value: Any) -> JsonValue:  # noqa: ANN401 - any value of a driver
    """Return a value of a database as JSON: dates in ISO 8601, exact decimals as text when a float is not exact."""
    if value is None or isinstance(value, bool | float):
        return value if not isinstance(value, float) or isfinite(value) else None
    if isinstance(value, int):
        return value if -_INT64 <= value < 2 * _INT64 else str(value)
    if isinstance(value, dict):
        return {str(key): value_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [value_of(item) for item in value]
    return _plain(value)


def _plain(value: Any) -> JsonValue:  # noqa: ANN401
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | memoryview | bytearray):
        return bytes(value).hex()
    return clean_text(str(value))


def _decimal(value: Decimal) -> JsonValue:
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) < _INT64:
        return int(value)
    near = float(value)
    return near if Decimal(repr(near)) == value else str(value)


def _execute(
    database: "sa.Connection", sql: str, values: Mapping[str, JsonValue], subject: str
) -> "sa.CursorResult[Any]":
    statement = sa.text(sql)
    needed = list(statement.compile().params)
    missing = [name for name in needed if name not in values]
    if missing:
        raise ComponentError(
            f"{subject}: there is no value for :{clipped(missing[0], 60)}"
            f"{did_you_mean(missing[0], list(values)) or '.'}",
            remedy="Add it to the values; write \\: for a colon that begins no name.",
            field="parameters",
        )
    bound = {name: values[name] for name in needed}
    if database.dialect.name == "duckdb":
        check_duckdb(database, statement, bound)
    return database.execute(statement, bound)


def _table(database: "sa.Connection", name: str) -> "sa.Table":
    schema, dot, plain = name.strip().rpartition(".")
    try:
        return sa.Table(plain, sa.MetaData(), schema=schema if dot else None, autoload_with=database, resolve_fks=False)
    except exc.NoSuchTableError as error:
        known = sa.inspect(database).get_table_names(schema=schema if dot else None)
        raise ComponentError(
            f"SqlWrite: there is no table '{clipped(name, 60)}'{did_you_mean(plain, known) or '.'}",
            remedy=f"The tables are: {listed(known, most=20) or 'none'}.",
            field="table",
        ) from error


def _require_columns(table: "sa.Table", columns: Sequence[str], name: str) -> None:
    known = list(table.columns.keys())
    for column in columns:
        if column not in known:
            raise ComponentError(
                f"SqlWrite: table '{clipped(name, 60)}' has no column '{clipped(column, 60)}'"
                f"{did_you_mean(column, known) or '.'}",
                remedy=f"Its columns are: {listed(known, most=30)}.",
                field="rows",
            )


def _upsert(database: "sa.Connection", table: "sa.Table", columns: Sequence[str], keys: Sequence[str]) -> Any:  # noqa: ANN401
    others = [column for column in columns if column not in keys]
    if database.dialect.name in {"postgresql", "sqlite", "duckdb"}:
        insert: Any = (sqlite if database.dialect.name == "sqlite" else postgresql).insert(table)
        if not others:
            return insert.on_conflict_do_nothing(index_elements=list(keys))
        return insert.on_conflict_do_update(
            index_elements=list(keys), set_={column: insert.excluded[column] for column in others}
        )
    update = mysql.insert(table)
    return update.on_duplicate_key_update({column: update.inserted[column] for column in others or keys})
