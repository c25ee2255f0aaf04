"""OpenID Connect with Authlib and joserfc: an extra, imported at the first sign-in."""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus

from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import BadSignatureError, ClaimError, InvalidKeyIdError, JoseError, MissingKeyError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from headgate.features.accounts.single_sign_on.errors import KeyUnknown, ProviderUnusable, TokenRefused
from headgate.features.accounts.single_sign_on.metadata import Metadata
from headgate.features.accounts.single_sign_on.transaction import Transaction
from headgate.foundation.settings import SingleSignOnSettings

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)
"""Only asymmetric signatures. `none` proves nothing, and HS256 would use a public key as a shared secret."""
KEY_TYPES = frozenset({"RSA", "EC", "OKP"})
LEEWAY_SECONDS = 60
"""Maximum clock difference to the provider."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_SECONDS = 300
"""Maximum age of a logout token."""
FORM = "application/x-www-form-urlencoded"


def authorization_url(metadata: Metadata, settings: SingleSignOnSettings, transaction: Transaction) -> str:
    """Return the URL for the browser (OpenID Connect Core 1.0, 3.1.2.1; RFC 7636, 4.3)."""
    url: str = prepare_grant_uri(
        metadata.authorization_endpoint,
        client_id=settings.client_id,
        response_type="code",
        redirect_uri=transaction.redirect_uri,
        scope=settings.scopes,
        state=transaction.state,
        nonce=transaction.nonce,
        code_challenge=create_s256_code_challenge(transaction.verifier),
        code_challenge_method="S256",
    )
    return url


def token_request(
    metadata: Metadata, settings: SingleSignOnSettings, transaction: Transaction, code: str
) -> tuple[dict[str, str], str]:
    """Return headers and body of the token request (RFC 6749, 4.1.3 and 2.3.1)."""
    body = prepare_token_request(
        "authorization_code", code=code, redirect_uri=transaction.redirect_uri, code_verifier=transaction.verifier
    )
    headers = {"Content-Type": FORM, "Accept": "application/json"}
    _, headers, body = _client(metadata, settings).prepare("POST", metadata.token_endpoint, headers, body)
    return headers, body


def count_keys(keys: object) -> int:
    """Return the number of the provider's keys that can verify signatures. Raises `ProviderUnusable`."""
    try:
        return len(_key_set(keys).keys)
    except (JoseError, ValueError, TypeError) as error:
        raise ProviderUnusable(
            "None of the provider's keys is usable.", remedy=f"A key for {', '.join(ALGORITHMS)} is required."
        ) from error


def check_id_token(
    id_token: str, keys: object, settings: SingleSignOnSettings, *, nonce: str, access_token: str | None
) -> Mapping[str, Any]:
    """Return the claims of a verified ID token (OpenID Connect Core 1.0, 3.1.3.7).

    Args:
        id_token: As received from the provider.
        keys: The provider's JWK set, as JSON.
        settings: Expected issuer and audience.
        nonce: The nonce of the sign-in.
        access_token: The access token, for `at_hash`.

    Raises `KeyUnknown` when the signature matches none of the keys, else `TokenRefused`.
    """
    try:
        token = jwt.decode(
            id_token, _key_set(keys), registry=JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        )
        claims = CodeIDToken(
            token.claims,
            token.header,
            {
                "iss": {"essential": True, "values": [settings.issuer]},
                "aud": {"essential": True, "values": [settings.client_id]},
                "sub": {"essential": True},
            },
            {"nonce": nonce, "client_id": settings.client_id, "access_token": access_token},
        )
        claims.validate(leeway=LEEWAY_SECONDS)
    except (InvalidKeyIdError, BadSignatureError, MissingKeyError) as error:
        raise KeyUnknown("no key of the provider matches the signature") from error
    except ClaimError as error:
        raise TokenRefused(f"{error.error}, {error.claim}") from error
    except (JoseError, ValueError, TypeError, AttributeError) as error:
        raise TokenRefused(_reason(error)) from error
    return dict(claims)


def check_logout_token(logout_token: str, keys: object, settings: SingleSignOnSettings) -> Mapping[str, Any]:
    """Return the claims of a verified logout token (OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6).

    Raises `KeyUnknown` when the signature matches none of the keys, else `TokenRefused`.
    """
    try:
        token = jwt.decode(
            logout_token, _key_set(keys), registry=JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        )
        jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "value": settings.client_id},
            iat={"essential": True},
            exp={"essential": False},
            jti={"essential": True},
        ).validate(token.claims)
    except (InvalidKeyIdError, BadSignatureError, MissingKeyError) as error:
        raise KeyUnknown("no key of the provider matches the signature") from error
    except ClaimError as error:
        raise TokenRefused(f"{error.error}, {error.claim}") from error
    except (JoseError, ValueError, TypeError, AttributeError) as error:
        raise TokenRefused(_reason(error)) from error
    claims = dict(token.claims)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise TokenRefused("it is not a logout token")
    if "nonce" in claims:  # an ID token has one: it must not be accepted as a logout token
        raise TokenRefused("a logout token must not have a nonce")
    if time.time() - claims["iat"] > LOGOUT_SECONDS:
        raise TokenRefused("the logout token is too old")
    return claims


def _client(metadata: Metadata, settings: SingleSignOnSettings) -> Any:  # noqa: ANN401 - Authlib has no types
    if settings.client_secret is None:
        return ClientAuth(settings.client_id, None, "none")
    secret = settings.client_secret.get_secret_value()
    methods = metadata.token_endpoint_auth_methods_supported
    if "client_secret_basic" in methods or "client_secret_post" not in methods:
        # Encoded first, as RFC 6749, 2.3.1 requires; Authlib does not do that.
        return ClientAuth(quote_plus(settings.client_id), quote_plus(secret), "client_secret_basic")
    return ClientAuth(settings.client_id, secret, "client_secret_post")


def _key_set(keys: object) -> KeySet:
    """Return the asymmetric verification keys; shared secrets are excluded."""
    key_list = keys.get("keys") if isinstance(keys, dict) else None
    if not isinstance(key_list, list):
        raise ProviderUnusable("The provider's keys are not a valid JWK set.", remedy="Correct it at the provider.")
    usable = [key for key in key_list if isinstance(key, dict) and key.get("kty") in KEY_TYPES and _signs(key)]
    return KeySet.import_key_set({"keys": usable})


def _signs(key: Mapping[str, Any]) -> bool:
    return bool(key.get("use", "sig") == "sig")


def _reason(error: Exception) -> str:
    """Return which rule was broken; never the provider's text."""
    return f"the ID token is malformed or unsafe ({getattr(error, 'error', type(error).__name__)})"
