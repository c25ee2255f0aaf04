"""Names to addresses: one look-up, every address checked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address

from headgate.foundation.guarded_http.addresses import Address, AddressPolicy
from headgate.foundation.guarded_http.errors import ConnectFailed, HostNotFound

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Addresses of a host name, best first. Raises `socket.gaierror`."""

MAX_ADDRESSES = 32


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


def checked_addresses(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> list[Address]:
    """The same from a thread that blocks. Raises `RuntimeError` on a thread that runs an event loop."""
    return asyncio.run(resolve_checked(host, port, policy=policy, resolver=resolver))


async def _look_up(host: str, port: int, resolver: Resolver) -> Sequence[str]:
    try:
        return await resolver(host, port)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise ConnectFailed(f"The address of {host} cannot be looked up at the moment.") from error
        raise HostNotFound(f"There is no host {host}.", remedy="Check the spelling of the address.") from error
    except UnicodeError as error:  # a label that the system's own encoder refuses
        raise HostNotFound(f"There is no host {host}.") from error
