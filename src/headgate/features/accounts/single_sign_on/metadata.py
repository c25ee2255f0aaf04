"""A provider's metadata (OpenID Connect Discovery 1.0, 4)."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from headgate.features.accounts.single_sign_on.errors import ProviderUnusable
from headgate.foundation.settings import LOOPBACK_NAMES

WELL_KNOWN = "/.well-known/openid-configuration"
Address = Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class Metadata(BaseModel):
    """The members that sign-in needs; others are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)

    issuer: str
    authorization_endpoint: Address
    token_endpoint: Address
    jwks_uri: Address
    userinfo_endpoint: Address | None = None
    end_session_endpoint: Address | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False
    """RFC 9207: the provider adds its issuer to the redirect."""


def address_of(issuer: str) -> str:
    """Return the URL of the provider's metadata."""
    return issuer.rstrip("/") + WELL_KNOWN


def read_metadata(content: bytes, issuer: str) -> Metadata:
    """Parse the provider's metadata.

    Raises `ProviderUnusable` when it is invalid, when it is for another issuer (Discovery 1.0, 4.3), and when it
    contains a URL that is not https: http is accepted only on loopback, and only from an issuer that uses it itself.
    """
    try:
        metadata = Metadata.model_validate_json(content)
    except ValidationError as error:
        location = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
        raise ProviderUnusable(
            f"{address_of(issuer)} is not an OpenID Connect discovery document: {location} is missing or wrong.",
            remedy="Correct HEADGATE_SINGLE_SIGN_ON__ISSUER.",
        ) from error
    if metadata.issuer != issuer:
        raise ProviderUnusable(
            f"The provider at {issuer} reports the issuer {metadata.issuer[:200]!r}.",
            remedy="Set HEADGATE_SINGLE_SIGN_ON__ISSUER to exactly the issuer that the provider reports.",
        )
    for address in (
        *(metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri),
        *(metadata.userinfo_endpoint, metadata.end_session_endpoint),
    ):
        if address is not None and not _is_safe(address, issuer):
            raise ProviderUnusable(
                f"The provider at {issuer} uses a URL without https: {address[:200]!r}.",
                remedy="Correct it at the provider.",
            )
    return metadata


def _is_safe(address: str, issuer: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if not host or "@" in parts.netloc or parts.fragment:
        return False
    is_plain_http = parts.scheme == "http" and host in LOOPBACK_NAMES and issuer.startswith("http://")
    return parts.scheme == "https" or is_plain_http
