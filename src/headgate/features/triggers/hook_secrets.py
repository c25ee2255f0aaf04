"""Secrets of webhooks, in the form that each verification needs."""

import base64
import binascii
import secrets

from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.settings import Verification

_BYTES = 32


def new_secret(verification: Verification) -> str:
    """Return a generated secret."""
    if verification == "standard":
        return "whsec_" + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
    token = secrets.token_urlsafe(_BYTES)
    return f"headgate:{token}" if verification == "basic" else token


def standard_key(secret: str) -> bytes | None:
    """Return the key of a Standard Webhooks secret; None when it is not Base64."""
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def check_secret(verification: Verification, secret: str | None) -> None:
    """Raise `TriggerInvalid` when no call could prove that it knows the secret."""
    if verification == "none":
        return
    if not secret:
        raise TriggerInvalid("Calls are verified, and the trigger has no secret.", remedy="Send a secret.")
    if verification == "standard" and standard_key(secret) is None:
        raise TriggerInvalid(
            "The secret is not Base64, as Standard Webhooks require.", remedy="Send whsec_ and the key in Base64."
        )
    user, colon, password = secret.partition(":")
    if verification == "basic" and not (user and colon and password):
        raise TriggerInvalid("The secret has no user name and password.", remedy="Send user:password.")
    if verification == "key" and not (secret.isascii() and secret.isprintable() and secret == secret.strip()):
        raise TriggerInvalid(
            "The secret cannot be sent in a header.", remedy="Use visible ASCII characters, without spaces around them."
        )
