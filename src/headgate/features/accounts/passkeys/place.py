"""The name that passkeys are bound to (WebAuthn Level 3, 4: RP ID), and the origin that they are used from."""

from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request

from headgate.features.accounts.passkeys.errors import PasskeysOff
from headgate.foundation.settings import ServerSettings

LIBRARY = "webauthn"


@dataclass(frozen=True, slots=True)
class Place:
    """Where passkeys are used."""

    rp_id: str
    origin: str


def find_place(request: Request, server: ServerSettings) -> Place | None:
    """The host of the public address, else `localhost`; None where passkeys cannot be used.

    Without a public address no other name counts: a request's `Host` is what its sender says.
    """
    if find_spec(LIBRARY) is None:
        return None
    if server.public_url:
        address = urlsplit(server.public_url)
        origin = f"{address.scheme}://{address.netloc}"
        return Place(address.hostname, origin) if address.hostname and not _is_number(address.hostname) else None
    if request.url.hostname != "localhost":
        return None
    return Place("localhost", f"{request.url.scheme}://{request.url.netloc}")


def require_place(request: Request, server: ServerSettings) -> Place:
    """The same. Raises `PasskeysOff`."""
    place = find_place(request, server)
    if place is None:
        raise PasskeysOff
    return place


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
