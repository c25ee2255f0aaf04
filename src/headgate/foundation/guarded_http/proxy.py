"""The operator's outgoing proxy: which connections use it, and the CONNECT that opens them (RFC 9110, 9.3.6)."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, Self

from headgate.foundation.guarded_http.errors import ConnectFailed, ProxyFailed, ProxyRefused
from headgate.foundation.settings import OutgoingSettings

HEAD_BYTES: Final = 16_384
_UNREACHABLE: Final = frozenset(
    {
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
"""Status codes of a proxy that could not connect; another address of the host may work."""


@dataclass(frozen=True, slots=True)
class OutgoingProxy:
    """The operator's HTTP proxy."""

    host: str
    port: int
    resolves_names: bool = False
    """Whether the proxy receives names; otherwise it receives checked addresses."""
    authorization: str = field(default="", repr=False)
    """Value of `Proxy-Authorization`; empty without a user."""
    direct_names: tuple[str, ...] = ()
    direct_networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, settings: OutgoingSettings) -> Self | None:
        """Return the proxy of the settings; None when there is none."""
        if settings.proxy is None:
            return None
        names, networks = _split(settings.direct_hosts)
        return cls(*settings.proxy, settings.proxy_resolves_names, _authorization(settings), names, networks)

    @property
    def shown(self) -> str:
        """Return the host and port, for messages."""
        return authority(self.host, self.port)

    def is_direct(self, host: str) -> bool:
        """Return whether the proxy is bypassed for a host name."""
        name = host.lower().rstrip(".")
        return any(name == rule or (rule.startswith(".") and f".{name}".endswith(rule)) for rule in self.direct_names)

    def is_direct_address(self, address: IPv4Address | IPv6Address) -> bool:
        """Return whether the proxy is bypassed for an address. Loopback and link-local would be the proxy's own."""
        return (
            address.is_loopback or address.is_link_local or any(address in network for network in self.direct_networks)
        )

    def unreachable(self) -> ProxyFailed:
        """Return the error for a proxy that accepts no connection."""
        return ProxyFailed(
            f"The outgoing proxy {self.shown} does not accept connections.",
            remedy="Ask the operator to start the proxy or correct HEADGATE_OUTGOING__PROXY_URL.",
        )


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A connection through the proxy to one server."""

    proxy: OutgoingProxy
    host: str
    """Name or address, as sent to the proxy."""
    port: int
    shown: str
    """The server as named in messages."""

    @property
    def request(self) -> bytes:
        """Return the CONNECT request."""
        target = authority(self.host, self.port)
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if self.proxy.authorization:
            lines.append(f"Proxy-Authorization: {self.proxy.authorization}")
        return "\r\n".join([*lines, "", ""]).encode("ascii")


class Opening:
    """Reads the proxy's response one byte at a time: everything after its head belongs to the tunnel."""

    def __init__(self, tunnel: Tunnel) -> None:
        self._tunnel = tunnel
        self._head = bytearray()

    def is_open(self, byte: bytes) -> bool:
        """Return whether the tunnel is open after this byte. Raises `ProxyFailed` or `ConnectFailed`."""
        self._head += byte
        if not byte or len(self._head) > HEAD_BYTES:
            raise self._not_http()
        if not self._head.endswith(b"\r\n\r\n"):
            return False
        status = self._status()
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return True
        raise self._refusal(status)

    def _status(self) -> int:
        version, _, text = bytes(self._head).partition(b" ")
        if not version.startswith(b"HTTP/1.") or not text[:3].isdigit():
            raise self._not_http()
        return int(text[:3])

    def _refusal(self, status: int) -> ConnectFailed:
        proxy = f"The outgoing proxy {self._tunnel.proxy.shown}"
        if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            return ProxyFailed(
                f"{proxy} rejected the user name or password (407).",
                remedy=(
                    "Ask the operator to correct HEADGATE_OUTGOING__PROXY_USER and HEADGATE_OUTGOING__PROXY_PASSWORD."
                ),
            )
        if status in _UNREACHABLE:
            return ConnectFailed(f"{proxy} cannot connect to {self._tunnel.shown} ({status}).")
        return ProxyRefused(
            f"{proxy} does not allow a connection to {self._tunnel.shown} ({status}).",
            remedy="Ask the operator to allow it in the proxy, or to add the host to HEADGATE_OUTGOING__DIRECT_HOSTS.",
        )

    def _not_http(self) -> ProxyFailed:
        return ProxyFailed(
            f"The server at {self._tunnel.proxy.shown} does not respond as an HTTP proxy.",
            remedy="Ask the operator to correct HEADGATE_OUTGOING__PROXY_URL.",
        )


@contextmanager
def connecting(host: str, port: int, tunnel: Tunnel | None, failures: tuple[type[Exception], ...]) -> Iterator[None]:
    """Convert a library's connection failures to Headgate's: the proxy's when the proxy was the peer."""
    try:
        yield
    except failures as error:
        if tunnel is not None:
            raise tunnel.proxy.unreachable() from error
        raise ConnectFailed(f"{host} does not accept a connection on port {port}.") from error


def authority(host: str, port: int) -> str:
    """Return host and port in the form of a request line."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _authorization(settings: OutgoingSettings) -> str:
    if not settings.proxy_user:
        return ""
    password = settings.proxy_password.get_secret_value() if settings.proxy_password else ""
    return "Basic " + base64.b64encode(f"{settings.proxy_user}:{password}".encode()).decode()


def _split(hosts: list[str]) -> tuple[tuple[str, ...], tuple[IPv4Network | IPv6Network, ...]]:
    """Return the names and the networks of a mixed list."""
    names, networks = [], []
    for host in hosts:
        try:
            networks.append(ip_network(host))
        except ValueError:
            names.append(host)
    return tuple(names), tuple(networks)
