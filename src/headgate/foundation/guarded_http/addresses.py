"""Address policy for flows: public addresses, and the networks that the operator allows.

The ranges are those of the IANA special-purpose registries (RFC 6890 and its updates). Python's `is_global` is not
used: its results differ between patch releases.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from headgate.foundation.errors import Unavailable
from headgate.foundation.guarded_http.errors import AddressRefused
from headgate.foundation.guarded_http.proxy import OutgoingProxy
from headgate.foundation.log import get_logger
from headgate.foundation.settings import OutgoingSettings

if TYPE_CHECKING:
    from ssl import SSLContext

log = get_logger(__name__)
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class _Range(NamedTuple):
    network: Network
    reason: str
    strict: bool
    """Allowed only by a listed network inside it: `0.0.0.0/0` does not include loopback, `fc00::/7` not metadata."""


def _ranges(reason: str, *networks: str, strict: bool = False) -> list[_Range]:
    return [_Range(ip_network(network), reason, strict) for network in networks]


_CLOUDS = "the metadata service of the cloud"
_REFUSED = [
    *_ranges(_CLOUDS, "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", strict=True),
    *_ranges(_CLOUDS, "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128", "fd00:c1::a9fe:a9fe/128", strict=True),
    *_ranges("unspecified", "0.0.0.0/8", "::/128", strict=True),
    *_ranges("loopback", "127.0.0.0/8", "::1/128", strict=True),
    *_ranges("link-local", "169.254.0.0/16", "fe80::/10", strict=True),
    *_ranges("multicast", "224.0.0.0/4", "ff00::/8", strict=True),
    *_ranges("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    *_ranges("shared with the provider's own network (RFC 6598)", "100.64.0.0/10"),
    *_ranges("an IPv4 address inside an IPv6 one", "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"),
    *_ranges("an IPv4 address inside an IPv6 one", "2001::/32", "2002::/16"),
    *_ranges("reserved", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4", "2001::/23", "3ffe::/16"),
    *_ranges("reserved for documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
    *_ranges("reserved for documentation", "2001:db8::/32", "3fff::/20"),
]
_GLOBAL_IPV6 = IPv6Network("2000::/3")
"""The only IPv6 range that is assigned for use across the internet."""
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


class AddressPolicy:
    """Decides which addresses may be reached.

    Args:
        allowed: Networks that are allowed although they are private, local or reserved.
        proxy: The proxy for connections to these addresses; None for direct connections.
        ca_file: Certificate authorities to trust in addition to the system's.
    """

    def __init__(
        self, allowed: Iterable[Network] = (), proxy: OutgoingProxy | None = None, ca_file: Path | None = None
    ) -> None:
        self._allowed = tuple(allowed)
        self.proxy = proxy
        self.ca_file = ca_file

    @classmethod
    def of(cls, outgoing: OutgoingSettings, allowed: Iterable[Network] = ()) -> Self:
        """The policy of a client: the only constructor outside this package, so that the proxy is never forgotten."""
        return cls(allowed, OutgoingProxy.of(outgoing), outgoing.ca_file)

    def trust(self, context: "SSLContext") -> None:
        """Add the operator's certificate authorities to a client. Raises `Unavailable`."""
        if self.ca_file is None:
            return
        try:
            context.load_verify_locations(self.ca_file)
        except OSError as error:  # `ssl.SSLError` too
            raise Unavailable(
                f"The certificates in {self.ca_file} cannot be read.",
                remedy="Ask the operator to correct HEADGATE_OUTGOING__CA_FILE: a PEM file that Headgate can read.",
            ) from error

    def require(self, address: Address, host: str) -> None:
        """Raise `AddressRefused` with the host and the reason when it may not be reached.

        The resolved address is only in the server's log: it reveals the internal network.
        """
        refused = self.refused(address, host)
        if refused is not None:
            log.warning("address_refused", host=host, address=str(address), reason=self.refusal(address))
            raise refused

    def refused(self, address: Address, host: str) -> AddressRefused | None:
        """Return the error for an address that may not be reached; None when it is allowed."""
        reason = self.refusal(address)
        if reason is None:
            return None
        return AddressRefused(
            f"Connections to {host} are not allowed: its address is {reason}.",
            remedy="If flows should reach it, the operator adds its network to HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS.",
        )

    def refusal(self, address: Address) -> str | None:
        """Return why an address may not be reached; None when it is allowed."""
        if isinstance(address, IPv6Address) and address.scope_id:
            return "bound to a network interface"
        refused_range = _refused_range(address)
        if refused_range is None:
            return None
        if not self._opens(address, refused_range):
            return refused_range.reason
        inner = _embedded(address)
        return None if inner is None else self.refusal(inner)

    def _opens(self, address: Address, refused_range: _Range) -> bool:
        return any(
            address in network and (not refused_range.strict or _is_inside(network, refused_range.network))
            for network in self._allowed
        )


def _refused_range(address: Address) -> _Range | None:
    for refused_range in _REFUSED:
        if address in refused_range.network:
            return refused_range
    if isinstance(address, IPv6Address):
        if address not in _GLOBAL_IPV6:
            return _Range(IPv6Network("::/0"), "reserved", strict=False)
        if _is_isatap(address):
            return _Range(_GLOBAL_IPV6, "an IPv4 address inside an IPv6 one", strict=False)
    return None


def _is_inside(network: Network, outer: Network) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(outer, IPv4Network) and network.subnet_of(outer)
    return isinstance(outer, IPv6Network) and network.subnet_of(outer)


def _is_isatap(address: IPv6Address) -> bool:
    """Return whether the interface part is `[02]00:5efe` and an IPv4 address (RFC 5214)."""
    return (int(address) >> 32) & 0xFDFFFFFF == 0x5EFE


def _embedded(address: Address) -> IPv4Address | None:
    """Return the destination IPv4 address of an IPv6 address, in every form that a router or kernel translates."""
    if isinstance(address, IPv4Address):
        return None
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if int(address) >> 32 in {0, 0xFFFF} or _is_isatap(address) or any(address in network for network in _NAT64):
        return None if int(address) <= 1 else IPv4Address(int(address) & 0xFFFFFFFF)
    return None
