"""Opens a checked connection to pass to a worker."""

import asyncio
import socket

from headgate.foundation.guarded_http.errors import ConnectFailed, ProxyFailed
from headgate.foundation.guarded_http.proxy import Opening, Tunnel, connecting
from headgate.foundation.guarded_http.resolving import checked_hops
from headgate.foundation.guarded_http.targets import Target
from headgate.sandbox.broker.rules import Grant

CONNECT_SECONDS = 10.0
"""Timeout of a lookup and a connection, in seconds."""


async def connect(grant: Grant, target: Target, seconds: float) -> socket.socket:
    """Return a connected, blocking socket to one of the target's addresses, all of which were checked.

    The name is resolved once, so a later change of the DNS response has no effect.

    Raises:
        HostRefused: The manifest or the operator does not allow the host.
        AddressRefused: One of its addresses is private, local or reserved, and not allowed.
        HostNotFound: It has no address.
        ConnectFailed: It does not respond in time, or at all.
    """
    host, port = target.host, target.port
    grant.require(host, port)
    failure: ConnectFailed | None = None
    try:
        async with asyncio.timeout(min(seconds, CONNECT_SECONDS)):
            rules = grant.rules
            for hop in await checked_hops(host, port, policy=rules.addresses, resolver=rules.resolver):
                try:
                    with connecting(host, port, hop.tunnel, (OSError,)):
                        return await _try(hop.address, hop.port, hop.tunnel)
                except ProxyFailed:
                    raise
                except ConnectFailed as error:
                    failure = error
    except TimeoutError:
        raise ConnectFailed(f"{host} did not accept a connection on port {port} in time.") from None
    raise failure or ConnectFailed(f"{host} does not accept a connection on port {port}.")


async def _try(address: str, port: int, tunnel: Tunnel | None) -> socket.socket:
    connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(0)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, (address, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tunnel is not None:
            opening = Opening(tunnel)
            await loop.sock_sendall(connection, tunnel.request)
            while not opening.is_open(await loop.sock_recv(connection, 1)):
                pass
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return connection
