"""The networks from which an API key works."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from headgate.features.accounts.credentials.found import Found
from headgate.features.accounts.keys.errors import NetworkRefused

MOST_NETWORKS = 50
Network = IPv4Network | IPv6Network


def read_network(text: str) -> str:
    """A network in CIDR notation, or one address, as it is kept. Raises `ValueError`."""
    try:
        return str(ip_network(text.strip()))
    except ValueError as error:
        raise ValueError(f"'{text[:60]}' is no network such as 192.0.2.0/24 or 2001:db8::/32: {error}") from error


def is_within(address: str | None, networks: Sequence[str]) -> bool:
    """Whether an address is in one of the networks. One that cannot be read is in none."""
    try:
        place = ip_address(address or "")
    except ValueError:
        return False
    if isinstance(place, IPv6Address) and place.ipv4_mapped is not None:
        place = place.ipv4_mapped
    return any(place in ip_network(network) for network in networks)


def covers(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Whether every address of the narrow networks is in one of the wide ones."""
    return all(any(_is_subnet(ip_network(one), ip_network(other)) for other in wide) for one in narrow)


def require_network(found: Found, address: str | None) -> None:
    """Raise `NetworkRefused` when a key is used from outside its networks."""
    if found.networks is not None and not is_within(address, found.networks):
        raise NetworkRefused(found.prefix or "", address)


def _is_subnet(inner: Network, outer: Network) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)
