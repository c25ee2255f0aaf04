"""Opens databases of connections with SQLAlchemy. Blocking; call it in a thread."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headgate.components.sockets import Endpoint, connected
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
else:
    psycopg = lazy_module("psycopg")
    pymysql = lazy_module("pymysql")
    sa = lazy_module("sqlalchemy")
    exc = lazy_module("sqlalchemy.exc")

CONNECT_SECONDS = 15
_NO_FILE = "/nonexistent"
_DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}
_READ_ONLY = {"postgresql": "SET TRANSACTION READ ONLY", "mysql": "START TRANSACTION READ ONLY"}


@contextmanager
def opened_database(
    connection: Connection, endpoint: Endpoint, *, seconds: float, read_only: bool, subject: str
) -> Iterator["sa.Connection"]:
    """Open a database for one transaction, which is committed at the end, or rolled back when it is read-only.

    The server refuses writes of a read-only transaction, and stops statements after the time.

    Args:
        connection: A connection of the kind `sql`.
        endpoint: Its server.
        seconds: Maximum time of a statement.
        read_only: Whether the server refuses writes.
        subject: The component, for errors.

    Raises:
        ComponentError: The statement is not valid, or is not allowed.
        UpstreamFailed: The server cannot be reached, or refuses the user.
    """
    dialect = connection.text("dialect")
    if dialect not in _DRIVERS:
        raise ComponentError(
            f"{subject}: databases of the kind '{clipped(dialect, 30)}' are not supported.",
            remedy="Use PostgreSQL, MySQL or MariaDB.",
        )
    family = "postgresql" if dialect == "postgresql" else "mysql"
    require_extra("postgres" if family == "postgresql" else "mysql", subject)
    creator: Callable[[], Any] = {"postgresql": _postgres, "mysql": _mysql}[family](
        connection, endpoint, seconds, read_only
    )
    engine = sa.create_engine(f"{_DRIVERS[dialect]}://", creator=creator, poolclass=sa.NullPool)
    try:
        with _readable_errors(subject, endpoint), engine.connect() as database:
            if read_only:
                database.rollback()
                database.execute(sa.text(_READ_ONLY[family]))
                database.execute(sa.text("SELECT 1"))  # from here on the mode cannot be changed
            yield database
            if read_only:
                database.rollback()
            else:
                database.commit()
    finally:
        engine.dispose()


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
        return database

    return connect


@contextmanager
def _readable_errors(subject: str, endpoint: Endpoint) -> Iterator[None]:
    try:
        yield
    except HeadgateError:
        raise
    except exc.OperationalError as error:
        raise _operational(error, subject, endpoint) from error
    except exc.SQLAlchemyError as error:
        message = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise ComponentError(
            f"{subject}: the database refused the statement: {clipped(message, 300)}.",
            remedy="Correct the SQL or the values.",
            field="sql",
        ) from error


def _operational(error: "exc.OperationalError", subject: str, endpoint: Endpoint) -> HeadgateError:
    message = clipped(str(error.orig).splitlines()[0], 300)
    if "READ ONLY transaction" in message:
        return ComponentError(f"{subject}: the database refuses changes.", remedy="Use SqlWrite.", field="sql")
    if "statement timeout" in message or "maximum statement execution time" in message:
        return ComponentError(
            f"{subject}: the statement took too long and was stopped.", remedy="Filter more, or raise the time limit."
        )
    return UpstreamFailed(
        f"{subject}: {endpoint.host}:{endpoint.port} failed: {message}.",
        remedy="Check the connection: host, port, database, user and password.",
    )
