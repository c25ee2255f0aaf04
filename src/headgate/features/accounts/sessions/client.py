"""The client of a request."""

from dataclasses import dataclass

from fastapi import Request

from headgate.features.accounts.addresses import address_of, counted

LONGEST_AGENT = 300


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a request, according to its headers and connection."""

    address: str = ""
    user_agent: str = ""

    @property
    def network(self) -> str:
        """Return the rate-limit key of the client."""
        return counted(self.address)


def client_of(request: Request) -> Client:
    """Return the client of this request; headers are truncated to the stored length."""
    agent = "".join(character for character in request.headers.get("user-agent", "") if character.isprintable())
    return Client(address=address_of(request) or "", user_agent=agent[:LONGEST_AGENT])
