"""Names to addresses: one look-up, every address checked."""

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
"""How long a name is looked up here that the proxy resolves: most likely nobody answers."""


@dataclass(frozen=True, slots=True)
class Hop:
    """Where a connection is opened: at the server, or at the proxy."""

    address: str
    port: int
    tunnel: Tunnel | None = None
    """What the proxy is asked for then."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """What the operating system knows about a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def resolve_checked(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Address]:
    """The addresses of a host, all of them allowed: connect to one of these and resolve no more.

    Raises `AddressRefused` when a single one is not, `HostNotFound` when there is none.
    """
    try:
        addresses = [ip_address(host)]
    except ValueError:
        addresses = [ip_address(found) for found in await _look_up(host, port, resolver)]
    if not addresses or len(addresses) > MAX_ADDRESSES:
        raise HostNotFound(f"{host} has {'no address' if not addresses else 'too many addresses'}.")
    for address in addresses:
        policy.require(address, host)
    return addresses


async def checked_hops(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Hop]:
    """Where to connect for a server, best first: to its checked addresses, or to the proxy that connects to them.

    Where the proxy resolves names, a name that this machine knows is checked all the same. Raises like
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
    sent = [host] if proxy.resolves_names else [str(address) for address in addresses]
    own = await proxy_address(proxy, resolver)
    return [Hop(own, proxy.port, Tunnel(proxy, name, port, host)) for name in sent]


def blocking_hops(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Hop]:
    """The same from a thread that blocks. Raises `RuntimeError` on a thread that runs an event loop."""
    return asyncio.run(checked_hops(host, port, policy=policy, resolver=resolver))


async def proxy_address(proxy: OutgoingProxy, resolver: Resolver) -> str:
    """An address of the proxy. Raises `ProxyFailed`."""
    try:
        found = await resolve_checked(
            proxy.host, proxy.port, policy=AddressPolicy(OPERATOR_NETWORKS), resolver=resolver
        )
    except (HostNotFound, ConnectFailed) as error:
        raise ProxyFailed(
            f"The outgoing proxy {proxy.shown} is not found.",
            remedy="The operator corrects HEADGATE_OUTGOING__PROXY_URL.",
        ) from error
    return str(found[0])


async def _look_up(host: str, port: int, resolver: Resolver) -> Sequence[str]:
    try:
        return await resolver(host, port)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise ConnectFailed(f"The address of {host} cannot be looked up at the moment.") from error
        raise HostNotFound(f"There is no host {host}.", remedy="Check the spelling of the address.") from error
    except UnicodeError as error:  # a label that the system's own encoder refuses
        raise HostNotFound(f"There is no host {host}.") from error
