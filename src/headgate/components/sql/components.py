"""Components for databases."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.files.saving import to_csv
from headgate.components.isolated.calls import read_database
from headgate.components.sockets import checked_endpoint, driver_endpoint
from headgate.components.sql.csv_files import query_csv
from headgate.components.sql.databases import opened_database
from headgate.components.sql.statements import MOST_ROWS, Mode, run_query, run_statement, schema_rows, write_rows
from headgate.components.storage.components import check_storage_effect
from headgate.foundation.flow_threads import wait_in_flow_thread
from headgate.graph.template import FieldKind
from headgate.sdk import (
    SQL_KINDS,
    Component,
    ComponentError,
    Connection,
    ConnectionReference,
    Data,
    File,
    RunContext,
    Table,
    Text,
    field,
    output,
)
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import data_of
from headgate.sdk.outside import mark

if TYPE_CHECKING:
    import sqlalchemy as sa

Result = TypeVar("Result")
MOST_SECONDS = 600
_CONNECTION = "A connection of the kind SQL database or database file."


def database_field() -> Any:  # noqa: ANN401 - pydantic's Field does the same
    """Return the field for the connection of a step that only reads."""
    return field(default=None, label="Database", help=_CONNECTION, connection_kinds=SQL_KINDS, unless="file")


def file_field() -> Any:  # noqa: ANN401
    """Return the field for a database in a file."""
    return field(
        default=None,
        label="Database file",
        help="In place of a connection: a file of SQLite. It is only read, in the sandbox.",
    )


class SqlQuery(Component):
    """Reads rows of a database (PostgreSQL, MySQL, MariaDB, SQL Server, SQLite, DuckDB) with one SELECT, not changes.

    Values belong in the parameters, never in the SQL: write `WHERE id = :id`.
    """

    label = "SQL query"
    category = "data"
    outside = True
    icon = "database"
    keywords = (
        "sql", "select", "database", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "duckdb", "rows",
        "read", "lookup", "report", "sql server", "mssql",
        "warehouse", "bound parameters",
    )  # fmt: skip

    database: ConnectionReference | None = database_field()
    file: File | None = file_field()
    sql: str = field(
        label="SQL",
        help="One SELECT; :name is a value of the parameters.",
        kind=FieldKind.CODE,
        port=False,
        tool_mode=True,
        interpolate=False,
        max_length=100_000,
    )
    parameters: Data = field(
        default_factory=dict,
        label="Parameters",
        help="Values of the SQL's :names: an object. They are sent apart from the SQL.",
        main=True,
        tool_mode=True,
    )
    most_rows: int = field(
        default=10_000, label="Most rows", help="More rows than this cause an error.", ge=1, le=MOST_ROWS, advanced=True
    )
    timeout_seconds: float = field(
        default=60, label="Time limit", help="The database stops the query after it.", ge=1, le=MOST_SECONDS,
        advanced=True,
    )  # fmt: skip
    _rows: Table | None = PrivateAttr(default=None)

    @output(name="table", label="Table", help="The rows.")
    async def give_table(self) -> Table:
        """Return the rows; read once."""
        if self._rows is None:
            values = _values(self.parameters, "SqlQuery")
            if self.file is not None:
                self._rows = await _in_file(
                    self.ctx,
                    self.file,
                    self.database,
                    subject="SqlQuery",
                    sql=self.sql,
                    parameters=values,
                    most_rows=self.most_rows,
                    seconds=self.timeout_seconds,
                )
            else:
                self._rows = await _in_database(
                    self.ctx,
                    self.database,
                    lambda database: run_query(database, self.sql, values, most_rows=self.most_rows),
                    seconds=self.timeout_seconds,
                    subject="SqlQuery",
                )
            self.ctx.log("The query ran.", rows=len(self._rows.rows))
        return self._rows

    @output(help="The rows as a list of objects.")
    async def data(self) -> Data:
        """Return the rows as data."""
        return data_of(await self.give_table())

    @output(label="CSV file", help="All rows as a CSV file, written as they arrive; up to 64 MB.")
    async def csv(self) -> File:
        """Return the rows as a file; of a database file, those of the table."""
        if self.file is not None:
            content = to_csv(await self.give_table()).encode()
        else:
            values = _values(self.parameters, "SqlQuery")
            content = await _in_database(
                self.ctx,
                self.database,
                lambda database: query_csv(database, self.sql, values),
                seconds=self.timeout_seconds,
                subject="SqlQuery",
            )
        return await self.ctx.files.save("rows.csv", content, "text/csv")


class SqlWrite(Component):
    """Writes rows to a table of a database: insert, upsert by key, or one statement for each row; all or nothing."""

    label = "SQL write"
    category = "data"
    outside = True
    effect = True
    icon = "database-zap"
    keywords = (
        "sql", "insert", "update", "upsert", "delete", "database", "postgres", "postgresql", "mysql", "mariadb",
        "sqlite", "duckdb", "sql server", "mssql", "save rows", "store", "merge", "warehouse",
    )  # fmt: skip

    database: ConnectionReference = field(label="Database", help=_CONNECTION, connection_kinds=SQL_KINDS)
    rows: Table = field(
        label="Rows",
        help="The rows to write: column names are those of the table, or the :names of the SQL.",
        main=True,
    )
    mode: Mode = field(
        default="insert",
        label="Mode",
        help="insert adds rows; upsert updates rows whose key exists; statement runs the SQL for each row.",
        port=False,
    )
    table: str = field(
        default="", label="Table", help="For insert and upsert: name, or schema.name.", port=False, max_length=200
    )
    keys: list[str] = field(
        default_factory=list,
        label="Keys",
        help="For upsert: the columns that identify a row; empty is the primary key.",
        port=False,
    )
    sql: str = field(
        default="",
        label="SQL",
        help="For statement: one UPDATE, DELETE or INSERT; :name is the value of a column.",
        kind=FieldKind.CODE,
        port=False,
        interpolate=False,
        max_length=100_000,
    )
    timeout_seconds: float = field(
        default=60, label="Time limit", help="The database stops a statement after it.", ge=1, le=MOST_SECONDS,
        advanced=True,
    )  # fmt: skip

    @output(help="How many rows were written or changed: rows.")
    async def data(self) -> Data:
        """Write in one transaction.

        A later attempt at the step reuses a stored answer; one that ended before it was stored writes again.
        """
        target = self.sql if self.mode == "statement" else self.table
        if not target.strip():
            name = "SQL" if self.mode == "statement" else "table"
            raise ComponentError(f"SqlWrite: the mode {self.mode} needs a {name}.", field=name.lower())
        if len(self.rows.rows) > MOST_ROWS:
            raise ComponentError(f"SqlWrite: more than {MOST_ROWS} rows.", remedy="Write fewer rows at once.")
        await self.ctx.check_cancelled()
        connection = await self.ctx.connection(self.database)
        check_storage_effect(self.ctx, connection, [] if self.mode == "statement" else [self.table])
        arguments: dict[str, JsonValue] = {
            "database": connection.name,
            "mode": self.mode,
            "target": target,
            "keys": list(self.keys),
            "rows": cast("JsonValue", self.rows.records()),
        }
        return (await self.ctx.once(CallRequest.of("value", "SqlWrite", arguments), self._write)).value

    async def _write(self) -> JsonValue:
        records = self.rows.records()

        def work(database: "sa.Connection") -> int:
            if self.mode == "statement":
                return run_statement(database, self.sql, records)
            return write_rows(database, self.table, records, keys=self.keys, mode=self.mode)

        count = await _in_database(
            self.ctx, self.database, work, seconds=self.timeout_seconds, subject="SqlWrite", read_only=False
        )
        self.ctx.log("The rows were written.", rows=count)
        return {"rows": count}


class SqlSchema(Component):
    """Lists the tables of a database and their columns, so that an agent can write a query."""

    label = "SQL schema"
    category = "data"
    outside = True
    icon = "database"
    keywords = ("sql", "tables", "columns", "schema", "database", "describe", "postgres", "mysql", "inspect", "types")

    database: ConnectionReference | None = database_field()
    file: File | None = file_field()
    match: str = field(
        default="",
        label="Names",
        main=True,
        help="Only tables with this text in their name or in that of a column.",
        tool_mode=True,
        max_length=100,
    )
    _schema: Table | None = PrivateAttr(default=None)

    @output(name="table", label="Table", help="One row per column: table, column, type, nullable, key, references.")
    async def give_table(self) -> Table:
        """Return the schema; read once."""
        if self._schema is None and self.file is not None:
            self._schema = await _in_file(
                self.ctx, self.file, self.database, subject="SqlSchema", sql=None, match=self.match.strip(), seconds=60
            )
        if self._schema is None:
            self._schema = await _in_database(
                self.ctx,
                self.database,
                lambda database: schema_rows(database, self.match.strip()),
                seconds=60,
                subject="SqlSchema",
            )
        return self._schema

    @output(help="One line per table: its name, and its columns with their types.")
    async def text(self) -> Text:
        """Return the schema as lines."""
        tables: dict[str, list[str]] = {}
        for record in (await self.give_table()).records():
            columns = tables.setdefault(str(record["table"]), [])
            target = f" references {record['references']}" if record["references"] else ""
            columns.append(f"{record['column']} {record['type']}{' key' if record['key'] else ''}{target}")
        return "\n".join(f"{name}({', '.join(columns)})" for name, columns in tables.items())


async def _in_file(
    ctx: RunContext, file: File, database: ConnectionReference | None, *, subject: str, **arguments: JsonValue
) -> Table:
    """Read a database in a file of the run, in a process without a network. Raises `ComponentError`."""
    if database is not None:
        raise ComponentError(f"{subject}: there are both a connection and a file.", remedy="Remove one.", field="file")
    content = await ctx.files.read(file)
    return await read_database(ctx, content, name=file.name, subject=subject, **arguments)


async def _in_database(
    ctx: RunContext,
    reference: ConnectionReference | None,
    work: "Callable[[sa.Connection], Result]",
    *,
    seconds: float,
    subject: str,
    read_only: bool = True,
) -> Result:
    """Run blocking work in one transaction of a database, in a thread."""
    if reference is None:
        raise ComponentError(f"{subject}: there is no database.", remedy="Choose a connection.", field="database")
    connection = await ctx.connection(reference)
    result = await in_database(connection, work, seconds=seconds, subject=subject, read_only=read_only)
    if read_only:
        ctx.mark_outside([mark("connection", connection.name)])
    return result


async def in_database(
    connection: Connection,
    work: "Callable[[sa.Connection], Result]",
    *,
    seconds: float,
    subject: str,
    read_only: bool = True,
) -> Result:
    """Run blocking work in one transaction of the database of a connection, in a thread; see `opened_database`."""
    endpoint = None
    if connection.kind == "sql":
        drives = connection.text("dialect") == "postgresql"
        endpoint = await (driver_endpoint if drives else checked_endpoint)(connection)

    def run() -> Result:
        with opened_database(connection, endpoint, seconds=seconds, read_only=read_only, subject=subject) as database:
            return work(database)

    return await wait_in_flow_thread(run)


def _values(parameters: Data, subject: str) -> dict[str, JsonValue]:
    if parameters in (None, ""):
        return {}
    if not isinstance(parameters, dict):
        raise ComponentError(
            f"{subject}: the parameters are not an object.", remedy='Write them as {"id": 3}.', field="parameters"
        )
    return cast("dict[str, Any]", parameters)
