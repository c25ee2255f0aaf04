"""Connections to SQL Server: python-tds speaks TDS over a socket that is encrypted and bounded here. Blocking."""

import socket
import ssl
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from headgate.components.sockets import Endpoint, connected
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection

if TYPE_CHECKING:
    import pytds  # type: ignore[import-untyped]
    from pytds import connection as connections  # type: ignore[import-untyped]
    from pytds import cursor as cursors  # type: ignore[import-untyped]
    from pytds import row_strategies, tds_base, tds_socket  # type: ignore[import-untyped]
else:
    pytds = lazy_module("pytds")
    connections = lazy_module("pytds.connection")
    cursors = lazy_module("pytds.cursor")
    row_strategies = lazy_module("pytds.row_strategies")
    tds_base = lazy_module("pytds.tds_base")
    tds_socket = lazy_module("pytds.tds_socket")

MOST_ANSWER_BYTES = 150_000_000
"""Bytes of the answer to one request; texts are sent as UTF-16."""
_LONGEST_PACKET = 32_767
_REPLY, _ATTENTION, _PRELOGIN = 4, 6, 18
_ENCRYPTED, _PLAIN = (1, 3), 2
"""What the server answers about encryption: of everything (3: it requires it); not at all."""
_OF_STATEMENT = 17
"""Severities below it are errors of the statement, the others are errors of the server."""


class Wire:
    """A connection to a server of TDS: an answer that takes too long or is too long ends it.

    Args:
        stream: Connected to the server.
        endpoint: The server, whose name its certificate has.
        seconds: Maximum time of an answer.
        subject: The component, for errors.
    """

    def __init__(self, stream: socket.socket, endpoint: Endpoint, seconds: float, subject: str) -> None:
        self.place = f"{subject}: {endpoint.host}:{endpoint.port}"
        self.closed = False
        self._stream, self._endpoint, self._seconds, self._subject = stream, endpoint, seconds, subject
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._begin()

    def prelogin(self, context: ssl.SSLContext | None) -> None:
        """Agree on encryption of the whole connection, with the context; None: on none. Raises `UpstreamFailed`."""
        version, wanted = b"\x01\0\0\0\0\0", _PLAIN if context is None else _ENCRYPTED[0]
        options = struct.pack(">BHHBHHB", 0, 11, len(version), 1, 11 + len(version), 1, 0xFF)
        self._send(_packet(_PRELOGIN, options + version + bytes([wanted])))
        answer = self._read_packet(_REPLY)
        encryption, at = _PLAIN, 0
        while answer[at] != 0xFF:
            option, offset, length = struct.unpack_from(">BHH", answer, at)
            encryption = answer[offset] if option == 1 and length else encryption
            at += 5
        if (encryption in _ENCRYPTED) is (context is None):
            raise UpstreamFailed(
                f"{self.place} {'requires' if context is None else 'refuses'} encryption.",
                remedy="Set TLS of the connection to 'verify'." if context is None else "Enable TLS on the server.",
            )
        if context is not None:
            self._encrypt(context)

    def _encrypt(self, context: ssl.SSLContext) -> None:
        """Shake hands in packets of TDS, as the protocol demands; from then on everything is inside TLS."""
        tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=self._endpoint.host)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                if self._outgoing.pending:
                    self._send(_packet(_PRELOGIN, self._outgoing.read()))
                self._incoming.write(self._read_packet(_PRELOGIN))
            except ssl.SSLError as error:
                raise UpstreamFailed(
                    f"{self.place}: encryption failed: {clipped(str(error), 200)}.",
                    remedy="Check the certificate of the server and its name in the connection.",
                ) from error
            else:
                self._tls = tls
                return

    def sendall(self, data: bytes | bytearray, _flags: int = 0) -> None:
        """Send one packet. A new request has the whole time for its answer; a cancellation has what is left."""
        if data[0] != _ATTENTION:
            self._begin()
        self._send(data)

    def recv_into(self, buffer: memoryview, size: int = 0, _flags: int = 0) -> int:
        """Read at most `size` bytes; 0 at the end. Raises `ComponentError` after the time, `UpstreamFailed`."""
        content = self._read(min(size or len(buffer), len(buffer)))
        buffer[: len(content)] = content
        return len(content)

    def settimeout(self, _seconds: float | None) -> None:
        """Do nothing: the time limit is that of the connection."""

    def gettimeout(self) -> float | None:
        """Return the time limit."""
        return self._seconds

    def close(self) -> None:
        """Close the connection; the server stops the statement and rolls its transaction back."""
        self.closed = True
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()

    def cancel(self) -> None:
        """Ask the server to stop the statement, and close."""
        if not self.closed:
            with suppress(OSError):
                self._stream.settimeout(1)
                self._write(_packet(_ATTENTION, b""))
        self.close()

    def _begin(self) -> None:
        self._deadline, self._left = monotonic() + self._seconds, MOST_ANSWER_BYTES

    def _send(self, data: bytes | bytearray) -> None:
        self._stream.settimeout(max(self._deadline - monotonic(), 0.001))
        self._write(data)

    def _write(self, data: bytes | bytearray) -> None:
        if self._tls is not None:
            self._tls.write(data)
            data = self._outgoing.read()
        self._stream.sendall(data)

    def _read(self, size: int) -> bytes:
        while self._tls is not None:
            try:
                return self._tls.read(size)
            except ssl.SSLWantReadError:
                content = self._receive(65_536)
                if not content:
                    return b""
                self._incoming.write(content)
            except ssl.SSLError:  # its end
                return b""
        return self._receive(size)

    def _receive(self, size: int) -> bytes:
        try:
            self._stream.settimeout(max(self._deadline - monotonic(), 0.001))
            content = self._stream.recv(size)
        except TimeoutError as error:
            self.cancel()
            raise ComponentError(
                f"{self._subject}: the statement took too long and was stopped.",
                remedy="Filter more, or raise the time limit.",
            ) from error
        self._left -= len(content)
        if self._left < 0:
            self.cancel()
            raise UpstreamFailed(
                f"{self.place} sent more than {MOST_ANSWER_BYTES // 1_000_000} MB.", remedy="Select less at once."
            )
        return content

    def _read_packet(self, kind: int) -> bytes:
        """Return the content of a packet, before there is encryption."""
        found, _, length, _ = struct.unpack(">BBHI", self._read_exactly(8))
        if found != kind or length < 8:
            raise ValueError(found, length)
        return self._read_exactly(length - 8)

    def _read_exactly(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            more = self._receive(size - len(content))
            if not more:
                raise EOFError
            content += more
        return content


def sql_server_creator(connection: Connection, endpoint: Endpoint, seconds: float, subject: str) -> Callable[[], Any]:
    """Return what connects to SQL Server and begins a transaction.

    What it returns raises errors of `pytds` for what the server refuses, and `HeadgateError` for a server that cannot be
    reached, redirects, or does not follow the protocol.
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
    login = tds_base._TdsLogin()
    login.client_host_name = login.app_name = login.library = "headgate"
    login.server_name = endpoint.host[:128]
    login.user_name, login.password = connection.text("user"), connection.secret("password")
    login.database = connection.text("database")
    login.option_flag2 = tds_base.TDS_ODBC_ON  # ANSI quotes and nulls
    login.bytes_to_unicode = True
    driver = tds_socket._TdsSocket(sock=wire, login=login, row_strategy=row_strategies.tuple_row_strategy)
    session = driver.main_session
    session.send_prelogin = session.process_prelogin = lambda _login: None  # it is done
    resize = session._reader.set_block_size

    def set_block_size(size: int) -> None:
        if size > _LONGEST_PACKET:
            raise ValueError(size)
        resize(size)

    session._reader.set_block_size = set_block_size
    route = driver.login()
    if route is not None:
        raise UpstreamFailed(
            f"{wire.place} redirects to {clipped(str(route['server']), 80)}:{route['port']}, which is not followed.",
            remedy="Name that server in the connection; in Azure, choose the connection policy Proxy.",
        )
    session.begin_tran()
    return _connection_class()(pooling=False, key=(), tds_socket=driver)


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


@cache
def _connection_class() -> Any:  # noqa: ANN401 - of the driver, which is imported when used
    """Return a connection of the driver whose cursors read answers to their end: an error may be after the first."""

    class CheckedCursor(cursors.NonMarsCursor):  # type: ignore[misc]
        def execute(self, operation: str, params: Any = None) -> None:  # noqa: ANN401
            with _checked(self._session.conn.sock):
                super().execute(operation, params)
                if self._session.res_info is None:
                    self._finish(max(self._session.rows_affected, 0))

        def executemany(self, operation: str, params_seq: Iterable[Any]) -> None:
            count = 0
            for params in params_seq:
                self.execute(operation, params)
                count += max(self._session.rows_affected, 0)
            self._session.rows_affected = count

        def fetchone(self) -> Any:  # noqa: ANN401
            with _checked(self._session.conn.sock):
                row = super().fetchone()
                if row is None:
                    self._finish(self._session.rows_affected)
                return row

        def _finish(self, count: int) -> None:
            while self._session.next_set():
                count += 0 if self._session.res_info else max(self._session.rows_affected, 0)
            self._session.rows_affected = count

    class CheckedConnection(connections.NonMarsConnection):  # type: ignore[misc]
        def cursor(self) -> CheckedCursor:
            return CheckedCursor(connection=self, session=self._tds_socket.main_session)

        def commit(self) -> None:
            with _checked(self._tds_socket.sock):
                super().commit()

        def rollback(self) -> None:
            """Roll back; the server itself does so after a connection that is closed."""
            if not self._tds_socket.sock.closed:
                with suppress(HeadgateError), _checked(self._tds_socket.sock):
                    super().rollback()

    return CheckedConnection


def _packet(kind: int, content: bytes) -> bytes:
    return struct.pack(">BBHI", kind, 1, len(content) + 8, 0x100) + content
