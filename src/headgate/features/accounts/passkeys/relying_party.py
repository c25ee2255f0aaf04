"""The domain of passkeys (WebAuthn Level 3, 4: RP ID), and the origin of their use."""

from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request

from headgate.features.accounts.passkeys.errors import PasskeysOff
from headgate.foundation.settings import ServerSettings

LIBRARY = "webauthn"


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The domain and origin of passkeys."""

    rp_id: str
    origin: str


def find_relying_party(request: Request, server: ServerSettings) -> RelyingParty | None:
    """Return the host of the public URL, else `localhost`; None when passkeys cannot be used.

    Without a public URL no other name is trusted: a request's `Host` is chosen by its sender.
    """
    if find_spec(LIBRARY) is None:
        return None
    if server.public_url:
        address = urlsplit(server.public_url)
        origin = f"{address.scheme}://{address.netloc}"
        return RelyingParty(address.hostname, origin) if address.hostname and not _is_number(address.hostname) else None
    if request.url.hostname != "localhost":
        return None
    return RelyingParty("localhost", f"{request.url.scheme}://{request.url.netloc}")


def require_relying_party(request: Request, server: ServerSettings) -> RelyingParty:
    """Return the relying party. Raises `PasskeysOff`."""
    relying_party = find_relying_party(request, server)
    if relying_party is None:
        raise PasskeysOff
    return relying_party


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
