"""Makes a checked connection, to be passed on."""

import asyncio
import socket

from headgate.foundation.guarded_http.errors import ConnectFailed
from headgate.foundation.guarded_http.resolving import resolve_checked
from headgate.foundation.guarded_http.targets import Target
from headgate.sandbox.broker.rules import Grant

CONNECT_SECONDS = 10.0
"""Longest time for a look-up and a connection."""


async def connect(grant: Grant, target: Target, seconds: float) -> socket.socket:
    """A connected, blocking socket to one of the target's addresses, all of which were checked.

    The name is looked up once, so an answer of the DNS that changes afterwards changes nothing.

    Raises:
        HostRefused: Manifest or operator do not name the host.
        AddressRefused: One of its addresses is private, local or reserved, and not opened.
        HostNotFound: It has no address.
        ConnectFailed: It does not answer in time, or at all.
    """
    host, port = target.host, target.port
    grant.require(host, port)
    try:
        async with asyncio.timeout(min(seconds, CONNECT_SECONDS)):
            rules = grant.rules
            for address in await resolve_checked(host, port, policy=rules.addresses, resolver=rules.resolver):
                connection = await _try(str(address), port, socket.AF_INET if address.version == 4 else socket.AF_INET6)
                if connection:
                    return connection
    except TimeoutError:
        raise ConnectFailed(f"{host} does not accept a connection on port {port} in time.") from None
    raise ConnectFailed(f"{host} does not accept a connection on port {port}.")


async def _try(address: str, port: int, family: socket.AddressFamily) -> socket.socket | None:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(0)
        await asyncio.get_running_loop().sock_connect(connection, (address, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(None)
    except OSError:
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection
