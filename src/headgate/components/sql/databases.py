"""Opens databases of connections with SQLAlchemy. Blocking; call it in a thread."""

import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from headgate.components.sockets import Endpoint, connected
from headgate.components.sql.database_files import SQLITE_HEAD, content_creator, file_creator
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection

if TYPE_CHECKING:
    import psycopg
    import pymysql  # type: ignore[import-untyped]
    import sqlalchemy as sa
    from sqlalchemy import exc

    from headgate.components.sql import sql_server_driver
else:
    psycopg = lazy_module("psycopg")
    pymysql = lazy_module("pymysql")
    sa = lazy_module("sqlalchemy")
    exc = lazy_module("sqlalchemy.exc")
    sql_server_driver = lazy_module("headgate.components.sql.sql_server_driver")

CONNECT_SECONDS = 15
_NO_FILE = "/nonexistent"
_DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
    "sqlserver": "mssql+pytds",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
_EXTRAS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "sqlserver": "mssql", "duckdb": "duckdb"}
_READ_ONLY = {
    "postgresql": "SET TRANSACTION READ ONLY",
    "mysql": "START TRANSACTION READ ONLY",
    "mariadb": "START TRANSACTION READ ONLY",
    "sqlserver": "SELECT 1",  # it has no read-only transaction: `one_select` refuses changes
    "sqlite": "BEGIN",
    "duckdb": "SELECT 1",  # the file is open for reading only
}
_WRITING = {"sqlite": "BEGIN IMMEDIATE"}
_CHANGES = (
    "read only transaction",
    "read-only mode",
    "read-only transaction",
    "readonly database",
    "transaction is read-only",
)
_TOO_SLOW = (
    "statement timeout",
    "maximum statement execution time",
    "max_statement_time",
    "interrupted",
    "interrupt error",
)
_STATEMENT = (
    "no such ",
    "syntax error",
    "incomplete input",
    "has no column",
    "wrong number of arguments",
    "unknown column",
    "illegal mix",
)
"""What SQLite, MySQL and MariaDB call an operational error, and is one of the statement."""
_INTERRUPT_SECONDS = 0.2
"""How often a statement is interrupted once its time is over."""


@contextmanager
def opened_database(
    connection: Connection, endpoint: Endpoint | None, *, seconds: float, read_only: bool, subject: str
) -> Iterator["sa.Connection"]:
    """Open a database for one transaction, which is committed at the end, or rolled back when it is read-only.

    The database refuses writes of a read-only transaction, and stops statements after the time. SQL Server has neither:
    its statements are cancelled after the time, and the caller refuses those that write.

    Args:
        connection: A connection of the kinds `SQL_KINDS`.
        endpoint: Its server; None for a database file.
        seconds: Maximum time of a statement; of the transaction for a database file.
        read_only: Whether the database refuses writes.
        subject: The component, for errors.

    Raises:
        ComponentError: The statement is not valid, or is not allowed.
        UpstreamFailed: The database cannot be reached or opened, or refuses the user.
    """
    dialect = connection.text("dialect")
    if dialect not in _DRIVERS:
        raise ComponentError(
            f"{subject}: databases of the kind '{clipped(dialect, 30)}' are not supported.",
            remedy="Use PostgreSQL, MySQL, MariaDB, SQL Server, SQLite or DuckDB.",
        )
    if dialect in _EXTRAS:
        require_extra(_EXTRAS[dialect], subject)
    if endpoint is None:
        creator = file_creator(connection, read_only=read_only, subject=subject)
    elif dialect == "sqlserver":
        creator = sql_server_driver.sql_server_creator(connection, endpoint, seconds, subject)
    else:
        connect = _postgres if dialect == "postgresql" else _mysql
        creator = connect(connection, endpoint, seconds, read_only)
    place = f"{endpoint.host}:{endpoint.port}" if endpoint else f"the database of '{connection.name}'"
    hidden = "" if connection.folder is None else os.path.realpath(connection.folder.path) + "/"
    limit = None if endpoint is not None else seconds
    with (
        _readable_errors(subject, place, hidden),
        _transaction(dialect, creator, limit, read_only=read_only) as database,
    ):
        yield database


@contextmanager
def opened_content(content: bytes, *, seconds: float, subject: str) -> Iterator["sa.Connection"]:
    """Open the content of a file of SQLite as a database for reading. For a sandbox: it may be from anywhere.

    Raises `ComponentError` when it is none, or when a statement is not valid or not allowed.
    """
    if not content.startswith(SQLITE_HEAD):
        kind = "a database of DuckDB" if content[8:12] == b"DUCK" else "no database of SQLite"
        raise ComponentError(
            f"{subject}: the file is {kind}.",
            remedy="Read DuckDB with a connection of the kind database file; CSV and spreadsheets with TableQuery.",
            field="file",
        )
    opened = _transaction("sqlite", content_creator(content), seconds, read_only=True)
    with _readable_errors(subject, "the file", ""), opened as database:
        yield database


@contextmanager
def _transaction(
    dialect: str, creator: Callable[[], Any], seconds: float | None, *, read_only: bool
) -> Iterator["sa.Connection"]:
    """Open one transaction; statements of a database in a file are stopped after the seconds."""
    engine = sa.create_engine(f"{_DRIVERS[dialect]}://", creator=creator, poolclass=sa.NullPool)
    try:
        with engine.connect() as database, _stopped(database, seconds):
            if read_only:
                database.rollback()
                database.execute(sa.text(_READ_ONLY[dialect]))
                database.execute(sa.text("SELECT 1"))  # from here on the mode cannot be changed
            elif dialect in _WRITING:
                database.execute(sa.text(_WRITING[dialect]))
            yield database
            if read_only:
                database.rollback()
            else:
                database.commit()
    finally:
        engine.dispose()


@contextmanager
def _stopped(database: "sa.Connection", seconds: float | None) -> Iterator[None]:
    """Interrupt the statements of a database file once the time is over: no server does."""
    if seconds is None:
        yield
        return
    ended = Event()
    driver: Any = database.connection.dbapi_connection

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            driver.interrupt()
            wait = _INTERRUPT_SECONDS

    watcher = Thread(target=watch, name="sql-time-limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _postgres(connection: Connection, endpoint: Endpoint, seconds: float, read_only: bool) -> Callable[[], Any]:  # noqa: FBT001
    """Return what connects to PostgreSQL: to the checked address, one statement at a time."""
    mode = {"off": "disable", "require": "require"}.get(connection.text("tls", "verify"), "verify-full")
    options = [f"-c statement_timeout={int(seconds * 1000)}", "-c idle_in_transaction_session_timeout=60000"]
    if read_only:
        options.append("-c default_transaction_read_only=on")

    def connect() -> Any:  # noqa: ANN401 - a connection of the driver
        certificates: dict[str, Any] = {"sslrootcert": "system"} if mode == "verify-full" else {}
        return psycopg.connect(
            host=endpoint.host,
            hostaddr=endpoint.address,
            port=endpoint.port,
            dbname=connection.text("database"),
            user=connection.text("user"),
            password=connection.secret("password"),
            sslmode=mode,
            options=" ".join(options),
            passfile=_NO_FILE,  # the files and tickets of the server's own user are not the connection's
            sslcert=_NO_FILE,
            sslkey=_NO_FILE,
            gssencmode="disable",
            connect_timeout=CONNECT_SECONDS,
            application_name="headgate",
            prepare_threshold=0,  # the extended protocol: a second statement after a semicolon is an error
            **certificates,
        )

    return connect


def _mysql(connection: Connection, endpoint: Endpoint, seconds: float, read_only: bool) -> Callable[[], Any]:  # noqa: FBT001, ARG001
    """Return what connects to MySQL or MariaDB over a socket of ours."""
    mode = connection.text("tls", "verify")
    context = None if mode == "off" else ssl.create_default_context()
    if context is not None and mode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE

    def connect() -> Any:  # noqa: ANN401
        database = pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            database=connection.text("database") or None,
            user=connection.text("user"),
            password=connection.secret("password"),
            ssl=context,
            read_timeout=int(seconds) + 5,
            write_timeout=int(seconds) + 5,
            charset="utf8mb4",
            local_infile=False,
            defer_connect=True,
        )
        database.connect(connected(endpoint, seconds + 5))
        is_mariadb = "mariadb" in str(database.get_server_info()).lower()
        limit = f"max_statement_time = {seconds}" if is_mariadb else f"max_execution_time = {int(seconds * 1000)}"
        with closing(database.cursor()) as cursor:
            cursor.execute(f"SET SESSION {limit}")
        return database

    return connect


@contextmanager
def _readable_errors(subject: str, place: str, hidden: str) -> Iterator[None]:
    try:
        yield
    except HeadgateError:
        raise
    except exc.SQLAlchemyError as error:
        raise _converted(error, subject, place, hidden) from error


def _converted(error: "exc.SQLAlchemyError", subject: str, place: str, hidden: str) -> HeadgateError:
    """Return the error that a user reads for one of a driver, without the folder of the file."""
    original = getattr(error, "orig", None)
    message = str(getattr(original, "text", None) or original or error)  # text: of SQL Server
    lines = (message.replace(hidden, "") if hidden else message).splitlines()
    message = clipped(lines[0] if lines else type(error).__name__, 300)
    words = message.lower()
    if any(sign in words for sign in _CHANGES):
        return ComponentError(f"{subject}: the database refuses changes.", remedy="Use SqlWrite.", field="sql")
    if "not authorized" in words or "prohibited" in words:
        return ComponentError(
            f"{subject}: the statement is not allowed in a database file.",
            remedy="Read and write the tables of the file; other files, settings and extensions are out of reach.",
            field="sql",
        )
    if any(sign in words for sign in _TOO_SLOW):
        return ComponentError(
            f"{subject}: the statement took too long and was stopped.", remedy="Filter more, or raise the time limit."
        )
    if isinstance(error, exc.OperationalError) and not any(sign in words for sign in _STATEMENT):
        return UpstreamFailed(
            f"{subject}: {place} failed: {message.rstrip('.')}.",
            remedy="Check the connection: its server or file, user and password, and that nothing else locks it.",
        )
    return ComponentError(
        f"{subject}: the database refused the statement: {message.rstrip('.')}.",
        remedy="Correct the SQL or the values.",
        field="sql",
    )
