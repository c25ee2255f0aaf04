"""Network addresses of callers."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from fastapi import Request

_ONE_SUBSCRIBER = 64
"""Bits of an IPv6 address that a provider gives to one subscriber at least (RFC 6177); the rest is theirs to choose."""


def address_of(request: Request) -> str | None:
    """Where a request came from, as the audit log shows it; None when the connection has no address."""
    return request.client.host[:64] if request.client is not None else None


def counted(address: str | None) -> str:
    """What tries from an address are counted by: the address, and for IPv6 its /64 network."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return address or ""
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(IPv6Network((int(found), _ONE_SUBSCRIBER), strict=False))
    return str(found)
