"""Network connections of components to the server of a connection, for protocols other than HTTP.

The address is resolved and checked once (`Connection.address`), and this address is connected to: a name that changes
its address in between reaches nothing else. An outgoing proxy is not used for these protocols.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from socket import create_connection
from typing import Any, TypeVar

from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.flow_threads import wait_in_flow_thread
from headgate.sdk import Connection

Result = TypeVar("Result")
CONNECT_SECONDS = 15.0
MOST_BYTES = 20_000_000
"""How much a `Bounded` server may send."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server whose address was checked."""

    host: str
    """Its name, for TLS."""
    address: str
    port: int


async def checked_endpoint(connection: Connection, server: tuple[str, int] | None = None) -> Endpoint:
    """Return the server of a connection, or another of its hosts, with its checked address. Raises `Forbidden`."""
    host, port = server or (connection.text("host"), connection.number("port"))
    return Endpoint(host, await connection.address(host, port), port)


async def driver_endpoint(connection: Connection) -> Endpoint:
    """Return the server of a connection for a driver that opens one connection itself, to the checked address."""
    return await checked_endpoint(connection)


async def open_socket(connection: Connection, *, timeout_seconds: float) -> socket.socket:
    """Return a socket that is connected to the server of a connection. Raises `UpstreamFailed`, `Forbidden`."""
    endpoint = await checked_endpoint(connection)
    return await wait_in_flow_thread(connected, endpoint, timeout_seconds)


@asynccontextmanager
async def closed_after(stream: socket.socket, seconds: float, *, subject: str) -> AsyncIterator[None]:
    """Shut a connection down after the block or the time, also when it was encrypted or a thread reads from it.

    Raises `UpstreamFailed` after the time: a server that sends a little now and then never times out by itself.
    """
    with stream.dup() as leash:
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise UpstreamFailed(
                f"{subject}: the server took longer than {seconds:g} seconds.", remedy="Raise the time limit."
            ) from error
        finally:
            with suppress(OSError):
                leash.shutdown(socket.SHUT_RDWR)


def connected(endpoint: Endpoint, timeout_seconds: float) -> socket.socket:
    """Connect and return the socket. Blocking. Raises `UpstreamFailed`."""
    try:
        stream = create_connection((endpoint.address, endpoint.port), min(timeout_seconds, CONNECT_SECONDS))
    except OSError as error:
        raise unreachable(endpoint) from error
    stream.settimeout(timeout_seconds)
    return stream


async def exchanged(
    connection: Connection,
    exchange: Callable[[Endpoint, socket.socket], Result],
    *,
    seconds: float,
    subject: str,
    server: tuple[str, int] | None = None,
) -> Result:
    """Return what `exchange` returns, a blocking function that gets a socket to the server, or one of the hosts.

    Raises `UpstreamFailed`, `Forbidden`, and what `exchange` raises.
    """
    endpoint = await checked_endpoint(connection, server)
    stream = await wait_in_flow_thread(connected, endpoint, seconds)
    try:
        async with closed_after(stream, seconds, subject=subject):
            return await wait_in_flow_thread(exchange, endpoint, stream)
    finally:
        stream.close()


def unreachable(endpoint: Endpoint) -> UpstreamFailed:
    """Return the error of a server that does not accept connections."""
    return UpstreamFailed(
        f"{endpoint.host}:{endpoint.port} cannot be reached.",
        remedy="Check the host and port of the connection, and that a firewall allows it.",
    )


def encrypted(connection: Connection, endpoint: Endpoint, stream: socket.socket) -> socket.socket:
    """Encrypt a connection as its field `tls` says: `verify`, `require` or `off`. Blocking."""
    mode = connection.text("tls", "verify")
    if mode == "off":
        return stream
    context = ssl.create_default_context()
    if mode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(stream, server_hostname=endpoint.host)


class Bounded:
    """A socket that reads at most `MOST_BYTES`."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._left = MOST_BYTES

    def recv(self, size: int) -> bytes:
        """Read. Raises `UpstreamFailed` after too much."""
        content = self._stream.recv(size)
        self._left -= len(content)
        if self._left < 0:
            raise UpstreamFailed(
                f"The server sent more than {MOST_BYTES // 1_000_000} MB.", remedy="Read less at once."
            )
        return content

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)
