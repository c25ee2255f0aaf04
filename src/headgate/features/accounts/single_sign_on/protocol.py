"""OpenID Connect's own rules, by Authlib and joserfc: an extra, imported when somebody first signs in this way."""

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
"""Signatures with a key pair only. `none` proves nothing, and HS256 would take a public key for a shared secret."""
KEY_TYPES = frozenset({"RSA", "EC", "OKP"})
LEEWAY_SECONDS = 60
"""How far the provider's clock may be off."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_SECONDS = 300
"""How old a logout token may be."""
FORM = "application/x-www-form-urlencoded"


def authorization_url(metadata: Metadata, settings: SingleSignOnSettings, transaction: Transaction) -> str:
    """Where the browser is sent (OpenID Connect Core 1.0, 3.1.2.1; RFC 7636, 4.3)."""
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
    """Headers and body of the request that redeems a code (RFC 6749, 4.1.3 and 2.3.1)."""
    body = prepare_token_request(
        "authorization_code", code=code, redirect_uri=transaction.redirect_uri, code_verifier=transaction.verifier
    )
    headers = {"Content-Type": FORM, "Accept": "application/json"}
    _, headers, body = _client(metadata, settings).prepare("POST", metadata.token_endpoint, headers, body)
    return headers, body


def count_keys(keys: object) -> int:
    """How many of the provider's keys can check a signature. Raises `ProviderUnusable`."""
    try:
        return len(_key_set(keys).keys)
    except (JoseError, ValueError, TypeError) as error:
        raise ProviderUnusable(
            "None of the provider's keys can be used.", remedy=f"It needs one for {', '.join(ALGORITHMS)}."
        ) from error


def check_id_token(
    id_token: str, keys: object, settings: SingleSignOnSettings, *, nonce: str, access_token: str | None
) -> Mapping[str, Any]:
    """The claims of an ID token that passed every check (OpenID Connect Core 1.0, 3.1.3.7).

    Args:
        id_token: As the provider gave it.
        keys: The provider's JWK set, as JSON.
        settings: Whose token it must be, and for whom.
        nonce: What the sign-in began with.
        access_token: What came with it, for `at_hash`.

    Raises `KeyUnknown` when none of the keys made the signature, else `TokenRefused`.
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
        raise KeyUnknown("none of its keys made the signature") from error
    except ClaimError as error:
        raise TokenRefused(f"{error.error}, {error.claim}") from error
    except (JoseError, ValueError, TypeError, AttributeError) as error:
        raise TokenRefused(_reason(error)) from error
    return dict(claims)


def check_logout_token(logout_token: str, keys: object, settings: SingleSignOnSettings) -> Mapping[str, Any]:
    """The claims of a logout token that passed every check (OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6).

    Raises `KeyUnknown` when none of the keys made the signature, else `TokenRefused`.
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
        raise KeyUnknown("none of its keys made the signature") from error
    except ClaimError as error:
        raise TokenRefused(f"{error.error}, {error.claim}") from error
    except (JoseError, ValueError, TypeError, AttributeError) as error:
        raise TokenRefused(_reason(error)) from error
    claims = dict(token.claims)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise TokenRefused("it is no logout token")
    if "nonce" in claims:  # an ID token has one: it must not pass for a logout token
        raise TokenRefused("a logout token has no nonce")
    if time.time() - claims["iat"] > LOGOUT_SECONDS:
        raise TokenRefused("the logout token is too old")
    return claims


def _client(metadata: Metadata, settings: SingleSignOnSettings) -> Any:  # noqa: ANN401 - Authlib has no types
    if settings.client_secret is None:
        return ClientAuth(settings.client_id, None, "none")
    secret = settings.client_secret.get_secret_value()
    known = metadata.token_endpoint_auth_methods_supported
    if "client_secret_basic" in known or "client_secret_post" not in known:
        # Encoded first, as RFC 6749, 2.3.1 has it; Authlib leaves that to us.
        return ClientAuth(quote_plus(settings.client_id), quote_plus(secret), "client_secret_basic")
    return ClientAuth(settings.client_id, secret, "client_secret_post")


def _key_set(keys: object) -> KeySet:
    """The keys that signatures with a key pair are checked by; a shared secret among them is none."""
    listed = keys.get("keys") if isinstance(keys, dict) else None
    if not isinstance(listed, list):
        raise ProviderUnusable("The provider's keys are not a JWK set.", remedy="Correct it at the provider.")
    usable = [key for key in listed if isinstance(key, dict) and key.get("kty") in KEY_TYPES and _signs(key)]
    return KeySet.import_key_set({"keys": usable})


def _signs(key: Mapping[str, Any]) -> bool:
    return bool(key.get("use", "sig") == "sig")


def _reason(error: Exception) -> str:
    """Which rule was broken; never what the provider wrote."""
    return f"the ID token is malformed or unsafe ({getattr(error, 'error', type(error).__name__)})"
