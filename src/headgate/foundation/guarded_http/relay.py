"""Guard for libraries and programs that open their own connections: an HTTP proxy on loopback for these only.

They are configured to use it for all requests. It connects only to the servers it was created for, so a redirect
that a library follows fails; their addresses are checked like all others. It does not see the content of TLS.
"""

import base64
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hmac import compare_digest
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Lock, Thread
from typing import Final
from urllib.parse import urlsplit

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.checked_socket import connect_checked
from headgate.foundation.guarded_http.resolving import Resolver, system_resolver
from headgate.foundation.log import get_logger

log = get_logger(__name__)
Server = tuple[str, int]
"""Host in lower case without brackets, and port."""

HEAD_BYTES: Final = 32_768
PIECE_BYTES: Final = 256 * 1024
MOST_SOCKETS: Final = 128
"""Open sockets of one relay, two for each connection."""
IDLE_SECONDS: Final = 120.0
"""Idle timeout of a connection."""
_USER: Final = "headgate"
_REFUSED: Final = b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_OPENED: Final = b"HTTP/1.1 200 Connected\r\n\r\n"


class _Listener(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


class Relay:
    """Listens from its creation, in daemon threads, until it is closed.

    Args:
        policy_of: The address policy of a permitted server; None for any other.
        resolver: Resolves names.
        most_bytes: How much all servers together may send; then every connection ends. None: any amount.
        listening: A socket that only the permitted program can reach, so that no token is asked for; None for a port
            of this machine, with a token.
    """

    def __init__(
        self,
        policy_of: Callable[[Server], AddressPolicy | None],
        resolver: Resolver = system_resolver,
        *,
        most_bytes: int | None = None,
        listening: socket.socket | None = None,
    ) -> None:
        token = secrets.token_urlsafe(24)
        self._policy_of = policy_of
        self._resolver = resolver
        self._left = most_bytes
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        self._key = b"basic " + base64.b64encode(f"{_USER}:{token}".encode()) if listening is None else b""
        relay = self

        class Handler(BaseRequestHandler):
            def handle(self) -> None:
                relay._serve(self.request)

        self._listener = _Listener(("127.0.0.1", 0), Handler, bind_and_activate=listening is None)
        if listening is not None:
            self._listener.socket.close()
            self._listener.socket = listening
            self._listener.server_address = listening.getsockname()
        self.port: int = self._listener.server_address[1]
        self.url = f"http://{_USER}:{token}@127.0.0.1:{self.port}"
        """Its address, with the token that opens it."""
        Thread(target=self._listener.serve_forever, name="relay", daemon=True).start()

    def close(self) -> None:
        """End every connection, and accept no more. Returns at once."""
        self._policy_of = lambda _: None
        self._end()
        Thread(target=self._stop, name="relay end", daemon=True).start()

    def _stop(self) -> None:
        self._listener.shutdown()  # waits for the listener's next look
        self._listener.server_close()

    def _end(self) -> None:
        with self._lock:
            connections = tuple(self._open)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def _held(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def _serve(self, client: socket.socket) -> None:
        client.settimeout(IDLE_SECONDS)
        if len(self._open) >= MOST_SOCKETS:
            return
        with self._held(client), suppress(OSError):
            head, excess = _head(client)
            method, _, target = head.partition(b" ")
            server = _server(method, target.partition(b" ")[0])
            if server is None or not self._is_ours(head):
                client.sendall(_REFUSED % (407 if server else 400))
                return
            self._pass_on(client, server, b"" if method == b"CONNECT" else _to_server(head) + excess)

    def _pass_on(self, client: socket.socket, target: Server, initial_bytes: bytes) -> None:
        policy = self._policy_of(target)
        if policy is None:
            log.warning("relay_refused", host=target[0], port=target[1])
            client.sendall(_REFUSED % 403)
            return
        try:
            server = connect_checked(*target, policy=policy, resolver=self._resolver)
        except HeadgateError as error:
            log.warning("relay_failed", host=target[0], reason=str(error))
            client.sendall(_REFUSED % 502)
            return
        with server, self._held(server):
            server.settimeout(IDLE_SECONDS)
            if initial_bytes:
                server.sendall(initial_bytes)
            else:
                client.sendall(_OPENED)
            back = Thread(target=self._pump, args=(server, client), kwargs={"counted": True}, daemon=True)
            back.start()
            self._pump(client, server)
            back.join()

    def _pump(self, source: socket.socket, sink: socket.socket, *, counted: bool = False) -> None:
        """Forward bytes until the end of the stream, or of the amount that servers may send."""
        with suppress(OSError):
            while chunk := source.recv(PIECE_BYTES):
                if counted and not self._spend(len(chunk)):
                    self._end()
                    return
                sink.sendall(chunk)
        for end, direction in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
            with suppress(OSError):
                end.shutdown(direction)

    def _spend(self, count: int) -> bool:
        with self._lock:
            if self._left is not None:
                self._left -= count
            return self._left is None or self._left >= 0

    def _is_ours(self, head: bytes) -> bool:
        if not self._key:
            return True
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"proxy-authorization":
                scheme, _, key = value.strip().partition(b" ")
                return compare_digest(scheme.lower() + b" " + key.strip(), self._key)
        return False


def server_of(url: str) -> Server:
    """Return the server of a URL."""
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    """Return the request's head, including its empty line, and the bytes after it."""
    received = b""
    while b"\r\n\r\n" not in received and len(received) < HEAD_BYTES:
        chunk = client.recv(HEAD_BYTES)
        if not chunk:
            break
        received += chunk
    head, mark, excess = received.partition(b"\r\n\r\n")
    return head + mark, excess


def _to_server(head: bytes) -> bytes:
    """Return the head of a plain request as its server expects it: with the path only, without the relay's token.

    The server closes the connection after its answer, so that each request passes here.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    method, target, version = (*first.split(b" "), b"", b"")[:3]
    path = b"/" + target.partition(b"://")[2].partition(b"/")[2]
    hop = (b"proxy-", b"connection:", b"keep-alive:")
    headers = [line for line in lines if not line.lower().startswith(hop)]
    return b"\r\n".join([b" ".join([method, path, version]), *headers, b"Connection: close", b"", b""])


def _server(method: bytes, target: bytes) -> Server | None:
    """Return the server in a request line: `CONNECT host:port`, or the full URL of a plain request."""
    try:
        text = target.decode("ascii")
        return server_of(f"https://{text}" if method == b"CONNECT" else text) if text and method else None
    except ValueError:
        return None
