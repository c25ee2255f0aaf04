"""Blocking connections to checked addresses."""

import asyncio
from socket import create_connection
from typing import TYPE_CHECKING

from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.conversion import CONNECT_SECONDS
from headgate.foundation.guarded_http.errors import ConnectFailed, HostNotFound, ProxyFailed, ProxyRefused
from headgate.foundation.guarded_http.proxy import Opening, OutgoingProxy, Tunnel, connecting
from headgate.foundation.guarded_http.resolving import Hop, Resolver, blocking_hops, proxy_address, system_resolver

if TYPE_CHECKING:
    from socket import socket


_NOWHERE = "headgate.invalid"


def connect_checked(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> "socket":
    """Connect to the first address that accepts. Raises `AddressRefused`, `HostNotFound`, `ConnectFailed`."""
    failure: ConnectFailed | None = None
    for hop in blocking_hops(host, port, policy=policy, resolver=resolver):
        try:
            with connecting(host, port, hop.tunnel, (OSError,)):
                return _open(hop)
        except ProxyFailed:
            raise
        except ConnectFailed as error:
            failure = error
    raise failure or HostNotFound(f"{host} has no IP address.")


def probe_proxy(proxy: OutgoingProxy) -> None:
    """Request a server that cannot exist (RFC 6761) from the proxy, which authenticates the user without connecting.

    Raises `ProxyFailed` when the proxy does not respond or rejects the user.
    """
    address = asyncio.run(proxy_address(proxy, system_resolver))
    tunnel = Tunnel(proxy, _NOWHERE, 443, _NOWHERE)
    try:
        with connecting(proxy.host, proxy.port, tunnel, (OSError,)):
            _open(Hop(address, proxy.port, tunnel)).close()
    except ConnectFailed as error:
        if isinstance(error, ProxyFailed) and not isinstance(error, ProxyRefused):
            raise


def _open(hop: Hop) -> "socket":
    connection = create_connection((hop.address, hop.port), CONNECT_SECONDS)
    try:
        if hop.tunnel is not None:
            opening = Opening(hop.tunnel)
            connection.sendall(hop.tunnel.request)
            while not opening.is_open(connection.recv(1)):
                pass
    except BaseException:
        connection.close()
        raise
    return connection
