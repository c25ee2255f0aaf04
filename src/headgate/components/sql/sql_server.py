"""The connection below the driver of SQL Server: encrypted as TDS demands, bounded in time and size. Blocking."""

import socket
import ssl
import struct
from contextlib import suppress
from time import monotonic

from headgate.components.sockets import Endpoint
from headgate.foundation.errors import UpstreamFailed
from headgate.graph.names import clipped
from headgate.sdk import ComponentError

MOST_ANSWER_BYTES = 150_000_000
"""Bytes of the answer to one request; texts are sent as UTF-16."""
_REPLY, _ATTENTION, _PRELOGIN = 4, 6, 18
_ENCRYPTED, _PLAIN = (1, 3), 2
"""What the server answers about encryption: of everything (3: it requires it); not at all."""


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
        requested = _PLAIN if context is None else _ENCRYPTED[0]
        # Version, encryption, instance, thread and, for answers of several statements at once, MARS.
        values = (b"\1" + bytes(5), bytes([requested]), b"\0", bytes(4), b"\0")
        options, offset = b"", 5 * len(values) + 1
        for option, value in enumerate(values):
            options += struct.pack(">BHH", option, offset, len(value))
            offset += len(value)
        self._send(_packet(_PRELOGIN, options + b"\xff" + b"".join(values)))
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
        answered, _, length, _ = struct.unpack(">BBHI", self._read_exactly(8))
        if answered != kind or length < 8:
            raise ValueError(answered, length)
        return self._read_exactly(length - 8)

    def _read_exactly(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            more = self._receive(size - len(content))
            if not more:
                raise EOFError
            content += more
        return content


def _packet(kind: int, content: bytes) -> bytes:
    return struct.pack(">BBHI", kind, 1, len(content) + 8, 0x100) + content
