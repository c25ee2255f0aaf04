"""Names, sites and networks in settings."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import BeforeValidator, StringConstraints

HostName = Annotated[
    str, StringConstraints(pattern=r"^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+)$", to_lower=True)
]
"""A name or address as in a URL, without brackets and port."""
Origin = Annotated[str, StringConstraints(pattern=r"^https?://[^/?#@*\s]+$", to_lower=True)]
"""Scheme, name and port of a site, as sent by browsers."""


def _network(value: object) -> object:
    """Return one message instead of one per version of the protocol."""
    try:
        return ip_network(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("one is not an address or network; write it such as 10.20.0.0/24 or fd00::/8") from None


Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)]
"""An address, or a network with its mask."""
