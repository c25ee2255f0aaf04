"""Networks from which an API key is accepted."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from headgate.features.accounts.credentials.credential import Credential
from headgate.features.accounts.keys.errors import NetworkRefused

MOST_NETWORKS = 50
Network = IPv4Network | IPv6Network


def read_network(text: str) -> str:
    """Return a network in CIDR notation, or one address, in the stored form. Raises `ValueError`."""
    try:
        return str(ip_network(text.strip()))
    except ValueError as error:
        raise ValueError(f"'{text[:60]}' is not a network such as 192.0.2.0/24 or 2001:db8::/32: {error}") from error


def is_within(address: str | None, networks: Sequence[str]) -> bool:
    """Return whether an address is in one of the networks. An invalid address is in none."""
    try:
        ip = ip_address(address or "")
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(ip in ip_network(network) for network in networks)


def covers(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Return whether every address of the narrow networks is in one of the wide ones."""
    return all(
        any(_is_subnet(ip_network(network), ip_network(wide_network)) for wide_network in wide) for network in narrow
    )


def require_network(credential: Credential, address: str | None) -> None:
    """Raise `NetworkRefused` when a key is used from outside its networks."""
    if credential.networks is not None and not is_within(address, credential.networks):
        raise NetworkRefused(credential.prefix or "", address)


def _is_subnet(inner: Network, outer: Network) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)
