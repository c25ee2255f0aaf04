"""Network addresses of callers."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from fastapi import Request

_ONE_SUBSCRIBER = 64
"""Bits of an IPv6 address that identify a subscriber (RFC 6177); the subscriber chooses the rest."""


def address_of(request: Request) -> str | None:
    """Return the address of a request, as in the audit log; None when the connection has no address."""
    return request.client.host[:64] if request.client is not None else None


def counted(address: str | None) -> str:
    """Return the rate-limit key of an address: the address, and for IPv6 its /64 network."""
    try:
        ip = ip_address(address or "")
    except ValueError:
        return address or ""
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(IPv6Network((int(ip), _ONE_SUBSCRIBER), strict=False))
    return str(ip)
