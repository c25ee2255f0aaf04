"""Where a request comes from."""

from dataclasses import dataclass

from fastapi import Request

from headgate.features.accounts.addresses import address_of, counted

LONGEST_AGENT = 300


@dataclass(frozen=True, slots=True)
class Client:
    """The other end of a request, as far as it says."""

    address: str = ""
    user_agent: str = ""

    @property
    def network(self) -> str:
        """What tries are counted by."""
        return counted(self.address)


def client_of(request: Request) -> Client:
    """The other end of this request; what it says of itself is cut to what is kept."""
    agent = "".join(letter for letter in request.headers.get("user-agent", "") if letter.isprintable())
    return Client(address=address_of(request) or "", user_agent=agent[:LONGEST_AGENT])
