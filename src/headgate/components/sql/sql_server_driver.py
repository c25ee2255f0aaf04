"""SQL Server over a connection of ours: python-tds reads and writes TDS. Blocking; import it only when it is used."""

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytds
from pytds.connection import NonMarsConnection
from pytds.cursor import NonMarsCursor
from pytds.row_strategies import tuple_row_strategy
from pytds.tds_base import TDS_ODBC_ON, _TdsLogin
from pytds.tds_socket import _TdsSocket

from headgate.components.sockets import Endpoint, connected
from headgate.components.sql.sql_server import Wire
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.graph.names import clipped
from headgate.sdk import Connection

_LONGEST_PACKET = 32_767
_OF_STATEMENT = 17
"""Severities below it are errors of the statement, the others are errors of the server."""


def sql_server_creator(connection: Connection, endpoint: Endpoint, seconds: float, subject: str) -> Callable[[], Any]:
    """Return what connects to SQL Server and begins a transaction.

    What it returns raises errors of `pytds` for what the server refuses, and `HeadgateError` for a server that cannot
    be reached, redirects, or does not follow the protocol.
    """
    mode = connection.text("tls", "verify")
    context = None if mode == "off" else ssl.create_default_context()
    if context is not None:
        context.maximum_version = ssl.TLSVersion.TLSv1_2  # of TDS 7; TDS 8 alone has TLS 1.3
        if mode == "require":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE

    def connect() -> Any:  # noqa: ANN401 - a connection of the driver
        wire = Wire(connected(endpoint, seconds), endpoint, seconds, subject)
        try:
            with _checked(wire, signing_in=True):
                wire.prelogin(context)
                return _signed_in(connection, endpoint, wire)
        except BaseException:
            wire.close()
            raise

    return connect


def _signed_in(connection: Connection, endpoint: Endpoint, wire: Wire) -> Any:  # noqa: ANN401
    """Sign in and return the connection of the driver, in a transaction.

    `pytds.connect` would open its own connection where the server redirects to, without encryption.
    """
    login = _TdsLogin()
    login.client_host_name = login.app_name = login.library = "headgate"
    login.server_name = endpoint.host[:128]
    login.user_name, login.password = connection.text("user"), connection.secret("password")
    login.database = connection.text("database")
    login.option_flag2 = TDS_ODBC_ON  # ANSI quotes and nulls
    login.bytes_to_unicode = True
    driver = _TdsSocket(sock=wire, login=login, row_strategy=tuple_row_strategy)
    session = driver.main_session
    session.send_prelogin = session.process_prelogin = lambda _login: None  # it is done
    reader = session._reader  # noqa: SLF001 - as the next: it allocates whatever the server names
    resize = reader.set_block_size

    def set_block_size(size: int) -> None:
        if size > _LONGEST_PACKET:
            raise ValueError(size)
        resize(size)

    reader.set_block_size = set_block_size
    route = driver.login()
    if route is not None:
        raise UpstreamFailed(
            f"{wire.place} redirects to {clipped(str(route['server']), 80)}:{route['port']}, which is not followed.",
            remedy="Name that server in the connection; in Azure, choose the connection policy Proxy.",
        )
    session.begin_tran()
    return CheckedConnection(pooling=False, key=(), tds_socket=driver)


@contextmanager
def _checked(wire: Wire, *, signing_in: bool = False) -> Iterator[None]:
    """Raise errors of statements as such; end the connection to a server that breaks it or the protocol."""
    try:
        yield
    except (pytds.DataError, pytds.IntegrityError, pytds.ProgrammingError, pytds.NotSupportedError):
        raise
    except pytds.OperationalError as error:
        if signing_in or error.severity >= _OF_STATEMENT:
            raise
        refused = pytds.ProgrammingError(str(error.text))
        refused.text = error.text
        raise refused from error
    except HeadgateError:
        wire.close()
        raise
    except Exception as error:
        wire.close()
        gone = isinstance(error, OSError | EOFError | pytds.ClosedConnectionError)
        raise UpstreamFailed(
            f"{wire.place} {'closed the connection' if gone else 'does not follow the protocol of SQL Server'}.",
            remedy="Check the host and port of the connection, and the log of the server.",
        ) from error


class CheckedCursor(NonMarsCursor):  # type: ignore[misc]
    """A cursor that reads the answer to a change to its end: there may be an error after the first count."""

    def execute(self, operation: str, params: Any = None) -> None:  # noqa: ANN401 - of the driver
        """Run one statement."""
        with _checked(self._session.conn.sock):
            super().execute(operation, params)
            if self._session.res_info is None:
                self._finish(max(self._session.rows_affected, 0))

    def executemany(self, operation: str, params_seq: Iterable[Any]) -> None:
        """Run one statement for each set of values, and count all rows."""
        count = 0
        for params in params_seq:
            self.execute(operation, params)
            count += max(self._session.rows_affected, 0)
        self._session.rows_affected = count

    def fetchone(self) -> Any:  # noqa: ANN401
        """Return the next row, None at the end."""
        with _checked(self._session.conn.sock):
            row = super().fetchone()
            if row is None:
                self._finish(self._session.rows_affected)
            return row

    def _finish(self, count: int) -> None:
        while self._session.next_set():
            count += 0 if self._session.res_info else max(self._session.rows_affected, 0)
        self._session.rows_affected = count


class CheckedConnection(NonMarsConnection):  # type: ignore[misc]
    """A connection in a transaction, whose errors are those of the server or of ours."""

    def cursor(self) -> CheckedCursor:
        """Return a cursor; its statement cancels that of the one before."""
        return CheckedCursor(connection=self, session=self._tds_socket.main_session)

    def commit(self) -> None:
        """Commit, and begin the next transaction."""
        with _checked(self._tds_socket.sock):
            super().commit()

    def rollback(self) -> None:
        """Roll back; the server itself does so after a connection that is closed."""
        if not self._tds_socket.sock.closed:
            with suppress(HeadgateError), _checked(self._tds_socket.sock):
                super().rollback()
