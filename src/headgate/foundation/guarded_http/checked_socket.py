"""A connection to a checked address, for code that blocks its thread."""

from socket import create_connection
from typing import TYPE_CHECKING

from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.conversion import CONNECT_SECONDS
from headgate.foundation.guarded_http.errors import ConnectFailed
from headgate.foundation.guarded_http.resolving import Resolver, checked_addresses

if TYPE_CHECKING:
    from socket import socket


def connect_checked(host: str, port: int, *, policy: AddressPolicy, resolver: Resolver) -> "socket":
    """Connect to the first address that accepts. Raises `AddressRefused`, `HostNotFound`, `ConnectFailed`."""
    failure: OSError | None = None
    for address in checked_addresses(host, port, policy=policy, resolver=resolver):
        try:
            return create_connection((str(address), port), CONNECT_SECONDS)
        except OSError as error:
            failure = error
    raise ConnectFailed(f"{host} does not accept a connection on port {port}.") from failure
