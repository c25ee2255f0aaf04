"""Name resolution: one lookup, with every address checked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from headgate.foundation.guarded_http.addresses import Address, AddressPolicy
from headgate.foundation.guarded_http.errors import ConnectFailed, HostNotFound, ProxyFailed
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.guarded_http.proxy import OutgoingProxy, Tunnel

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Addresses of a host name, best first. Raises `socket.gaierror`."""

MAX_ADDRESSES = 32
OWN_LOOK_UP_SECONDS = 2.0
"""Timeout of a local lookup when the proxy resolves names: most likely there is no response."""


@dataclass(frozen=True, slots=True)
class Hop:
    """The endpoint of a connection: the server or the proxy."""

    address: str
    port: int
    tunnel: Tunnel | None = None
    """The target that is requested from the proxy."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve a name with the operating system."""
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in infos))


async def resolve_checked(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Address]:
    """Return the addresses of a host, all of them allowed: connect to one of these without resolving again.

    Raises `AddressRefused` when any address is not allowed, `HostNotFound` when there is none.
    """
    try:
        addresses = [ip_address(host)]
    except ValueError:
        addresses = [ip_address(text) for text in await _look_up(host, port, resolver)]
    if not addresses or len(addresses) > MAX_ADDRESSES:
        raise HostNotFound(f"{host} has {'no address' if not addresses else 'too many addresses'}.")
    for address in addresses:
        policy.require(address, host)
    return addresses


async def checked_hops(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Hop]:
    """Return where to connect for a server, best first: its checked addresses, or the proxy.

    When the proxy resolves names, a name that this machine can resolve is checked as well. Raises like
    `resolve_checked`, and `ProxyFailed` when the proxy has no address.
    """
    proxy = policy.proxy
    if proxy is None or proxy.is_direct(host):
        addresses = await resolve_checked(host, port, policy=policy, resolver=resolver)
        return [Hop(str(address), port) for address in addresses]
    try:
        async with asyncio.timeout(OWN_LOOK_UP_SECONDS if proxy.resolves_names else None):
            addresses = await resolve_checked(host, port, policy=policy, resolver=resolver)
    except (HostNotFound, ConnectFailed, TimeoutError):
        if not proxy.resolves_names:
            raise
        addresses = []
    direct = [Hop(str(address), port) for address in addresses if proxy.is_direct_address(address)]
    if direct:
        return direct
    targets = [host] if proxy.resolves_names else [str(address) for address in addresses]
    proxy_ip = await proxy_address(proxy, resolver)
    return [Hop(proxy_ip, proxy.port, Tunnel(proxy, name, port, host)) for name in targets]


def blocking_hops(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Hop]:
    """Return `checked_hops` from a blocking thread. Raises `RuntimeError` on a thread that runs an event loop."""
    return asyncio.run(checked_hops(host, port, policy=policy, resolver=resolver))


async def proxy_address(proxy: OutgoingProxy, resolver: Resolver) -> str:
    """Return an address of the proxy. Raises `ProxyFailed`."""
    try:
        addresses = await resolve_checked(
            proxy.host, proxy.port, policy=AddressPolicy(OPERATOR_NETWORKS), resolver=resolver
        )
    except (HostNotFound, ConnectFailed) as error:
        raise ProxyFailed(
            f"The outgoing proxy {proxy.shown} was not found.",
            remedy="Ask the operator to correct HEADGATE_OUTGOING__PROXY_URL.",
        ) from error
    return str(addresses[0])


async def _look_up(host: str, port: int, resolver: Resolver) -> Sequence[str]:
    try:
        return await resolver(host, port)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise ConnectFailed(f"The address of {host} cannot be resolved at the moment.") from error
        raise HostNotFound(f"The host {host} does not exist.", remedy="Check the spelling of the URL.") from error
    except UnicodeError as error:  # a label that the system's encoder rejects
        raise HostNotFound(f"The host {host} does not exist.") from error
