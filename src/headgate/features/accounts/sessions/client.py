"""Where a request comes from."""

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

from fastapi import Request

IPV6_HOME_BITS = 64
"""What one home or office is given of IPv6 (RFC 6177): whoever has one address there has all of them."""


@dataclass(frozen=True, slots=True)
class Client:
    """The other end of a request, as far as it says."""

    address: str = ""
    user_agent: str = ""

    @property
    def network(self) -> str:
        """What tries are counted by: the address, of IPv6 the network that it is in."""
        try:
            found = ip_address(self.address)
        except ValueError:
            return self.address
        if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
            return str(IPv6Network((found, IPV6_HOME_BITS), strict=False))
        return str(getattr(found, "ipv4_mapped", None) or found)


def client_of(request: Request) -> Client:
    """The other end of this request; what it says of itself is cut to what is kept."""
    agent = "".join(letter for letter in request.headers.get("user-agent", "") if letter.isprintable())
    return Client(address=request.client.host[:64] if request.client is not None else "", user_agent=agent[:300])
