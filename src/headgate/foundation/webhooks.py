"""Signatures and ids of webhooks, after Standard Webhooks (https://www.standardwebhooks.com), symmetric v1."""

import base64
import binascii
import hashlib
import hmac

from headgate.foundation.errors import Invalid

SECRET_PREFIX = "whsec_"  # noqa: S105 - how secrets begin


class BadWebhookSecret(Invalid):
    """A secret that begins like a Standard Webhooks secret and is invalid."""

    code = "bad_webhook_secret"
    title = "Invalid webhook secret"


def delivery_key(run_id: str, step_id: str) -> str:
    """The idempotency key of a delivery, the same for the same step of the same run: SHA-256 in hex (seed 002)."""
    return hashlib.sha256(f"{run_id}{step_id}".encode()).hexdigest()


def signature_headers(secret: str, webhook_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the `webhook-id`, `webhook-timestamp` and `webhook-signature` headers.

    Args:
        secret: `whsec_` and base64 of the key, or any other text, whose UTF-8 is then the key.
        webhook_id: The delivery's id.
        timestamp: Seconds since 1970.
        body: The bytes that are sent.

    Raises:
        BadWebhookSecret: It begins with `whsec_` and is not base64 after it.
    """
    key = secret.encode()
    if secret.startswith(SECRET_PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
        except binascii.Error as error:
            raise BadWebhookSecret(
                "The webhook secret starts with whsec_ but is not base64 after it.", remedy="Copy the complete secret."
            ) from error
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": webhook_id, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{digest}"}
