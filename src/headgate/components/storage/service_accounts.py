"""Tokens of Google service accounts, signed with their own key: no server issues them."""

import base64
import json
import time
from typing import TYPE_CHECKING, cast

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from headgate.sdk import ComponentError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import rsa

SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
SECONDS = 3_600
"""How long a token is valid: longer than a step."""


def service_account_token(key: str, connection: str) -> str:
    """Return a bearer token (a JWT, RS256) for Cloud Storage.

    Args:
        key: The key of a service account, as JSON with `client_email`, `private_key` and `private_key_id`.
        connection: The name of the connection, for errors.

    Raises:
        ComponentError: It is no such key.
    """
    try:
        account = json.loads(key)
        email, key_id = str(account["client_email"]), str(account.get("private_key_id") or "")
        private = cast(
            "rsa.RSAPrivateKey", serialization.load_pem_private_key(str(account["private_key"]).encode(), None)
        )
        now = int(time.time())
        claims = {"iss": email, "sub": email, "scope": SCOPE, "iat": now, "exp": now + SECONDS}
        signed = f"{_part({'alg': 'RS256', 'typ': 'JWT', 'kid': key_id})}.{_part(claims)}"
        return f"{signed}.{_encoded(private.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ComponentError(
            f"The key of the connection '{connection}' cannot be read.",
            remedy="Give the complete JSON file that Google created for the service account.",
        ) from error


def _part(value: dict[str, object]) -> str:
    return _encoded(json.dumps(value).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
