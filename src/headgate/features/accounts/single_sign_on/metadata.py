"""What a provider says about itself (OpenID Connect Discovery 1.0, 4)."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from headgate.features.accounts.single_sign_on.errors import ProviderUnusable
from headgate.foundation.settings import LOOPBACK_NAMES

WELL_KNOWN = "/.well-known/openid-configuration"
Address = Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class Metadata(BaseModel):
    """The members that signing in needs; others are left out."""

    model_config = ConfigDict(strict=True, frozen=True)

    issuer: str
    authorization_endpoint: Address
    token_endpoint: Address
    jwks_uri: Address
    userinfo_endpoint: Address | None = None
    end_session_endpoint: Address | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False
    """RFC 9207: the provider names itself when it sends a browser back."""


def address_of(issuer: str) -> str:
    """Where the provider's document is."""
    return issuer.rstrip("/") + WELL_KNOWN


def read_metadata(content: bytes, issuer: str) -> Metadata:
    """The provider's document.

    Raises `ProviderUnusable` when it is none, when it speaks of another issuer (Discovery 1.0, 4.3), and when it names
    an address that is not https: http is taken only on loopback, and only of an issuer that is there itself.
    """
    try:
        found = Metadata.model_validate_json(content)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
        raise ProviderUnusable(
            f"{address_of(issuer)} is not the document of an OpenID Connect provider: {where} is missing or wrong.",
            remedy="Correct HEADGATE_SINGLE_SIGN_ON__ISSUER.",
        ) from error
    if found.issuer != issuer:
        raise ProviderUnusable(
            f"The provider at {issuer} calls itself {found.issuer[:200]!r}.",
            remedy="Write HEADGATE_SINGLE_SIGN_ON__ISSUER exactly as the provider calls itself.",
        )
    for address in (
        *(found.authorization_endpoint, found.token_endpoint, found.jwks_uri),
        *(found.userinfo_endpoint, found.end_session_endpoint),
    ):
        if address is not None and not _is_safe(address, issuer):
            raise ProviderUnusable(
                f"The provider at {issuer} names an address that is not https: {address[:200]!r}.",
                remedy="Correct it at the provider.",
            )
    return found


def _is_safe(address: str, issuer: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if not host or "@" in parts.netloc or parts.fragment:
        return False
    plain = parts.scheme == "http" and host in LOOPBACK_NAMES and issuer.startswith("http://")
    return parts.scheme == "https" or plain
