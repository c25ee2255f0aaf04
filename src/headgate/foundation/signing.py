"""Signatures with the installation's key: Ed25519 (RFC 8032) over the canonical JSON of a few members."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, SecretBytes

from headgate.foundation.canonical import canonical
from headgate.foundation.errors import Invalid, Unavailable

ALGORITHM = "Ed25519"
_KEY_BYTES = 32


class EvidenceKey(BaseModel):
    """The public form of an evidence signing key."""

    model_config = ConfigDict(frozen=True)

    key_id: str
    """The first 16 hexadecimal digits of the SHA-256 of the public key's 32 bytes."""
    algorithm: str = ALGORITHM
    public_key: str
    """The 32 bytes in base64."""


class Signer:
    """Signs with a private key of 32 bytes.

    Args:
        seed: The private key. Raises `Unavailable` when it has another length.
    """

    def __init__(self, seed: bytes) -> None:
        if len(seed) != _KEY_BYTES:
            raise Unavailable(
                "The key that signs evidence is not 32 bytes of URL-safe base64.",
                remedy="Correct HEADGATE_EVIDENCE_KEY, or the file evidence.key in the data folder.",
            )
        self._seed = SecretBytes(seed)
        self._private = _ed25519()[0].Ed25519PrivateKey.from_private_bytes(seed)
        self.key = key_of(self._private.public_key().public_bytes_raw())

    def sign(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members, the key, and the signature over both."""
        signed = _signed(members, self.key)
        return {**signed, "signature": _text(self._private.sign(canonical(signed)))}

    def commitment(self, where: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
        """Return a commitment that replaces an omitted value: HMAC-SHA256, so the value cannot be guessed by trying.

        The holder of the private key can prove which value was omitted.
        """
        secret = hmac.digest(self._seed.get_secret_value(), b"headgate evidence commitment", hashlib.sha256)
        return hmac.new(secret, canonical({"where": where, "value": value}), hashlib.sha256).hexdigest()


def key_of(public_key: bytes) -> EvidenceKey:
    """Return the evidence key of these 32 bytes."""
    return EvidenceKey(key_id=hashlib.sha256(public_key).hexdigest()[:16], public_key=_text(public_key))


def read_public_key(text: str) -> EvidenceKey:
    """Parse a printed public key: base64, surrounding whitespace and line breaks allowed. Raises `Invalid`."""
    key = exact_base64(text.strip())
    if key is None or len(key) != _KEY_BYTES:
        raise Invalid(
            "This is not a public key of 32 bytes in base64.", remedy="Print the key with `headgate evidence key`."
        )
    return key_of(key)


def broken_signature(document: Any, members: Mapping[str, Any]) -> str | None:  # noqa: ANN401 - from a file
    """Return what is wrong with an output of `Signer.sign` for these members, or None when the signature is valid."""
    if not isinstance(document, dict):
        return "it is missing."
    public = exact_base64(document.get("public_key"))
    signature = exact_base64(document.get("signature"))
    if public is None or len(public) != _KEY_BYTES or signature is None:
        return "its public key or signature is malformed: it was changed."
    expected = _signed(members, key_of(public))
    for member in sorted(expected.keys() | document.keys()):
        if member != "signature" and document.get(member) != expected.get(member):
            return f"'{member}' does not match the chain and key."
    ed25519, invalid_signature = _ed25519()
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, canonical(expected))
    except (invalid_signature, ValueError):  # the latter for 32 bytes that are not a point of the curve
        return f"its signature does not match key {expected['key_id']} and this chain."
    return None


def exact_base64(text: Any) -> bytes | None:  # noqa: ANN401 - from a file
    """Return the bytes of a text in canonical base64; else None."""
    if not isinstance(text, str):
        return None
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if _text(content) == text else None


def _signed(members: Mapping[str, Any], key: EvidenceKey) -> dict[str, Any]:
    return {**members, "algorithm": ALGORITHM, "key_id": key.key_id, "public_key": key.public_key}


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _ed25519() -> tuple[Any, type[Exception]]:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - heavy

    return ed25519, InvalidSignature
