"""An authenticator in software: makes a passkey and signs with it, as WebAuthn Level 3 lays the bytes out."""

import base64
import hashlib
import json
import secrets
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class SoftPasskey:
    """One ES256 passkey."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.id = secrets.token_bytes(32)
        self.count = 0
        self.verified = True
        self._key = ec.generate_private_key(ec.SECP256R1())

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        """The answer to options of a registration."""
        numbers = self._key.public_key().public_numbers()
        x, y = (value.to_bytes(32, "big") for value in (numbers.x, numbers.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        data = self._data(options["rp"]["id"], ATTESTED)
        data += bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options["challenge"])
        return self._answer({"clientDataJSON": _text(client), "attestationObject": _text(attestation)})

    def sign(self, options: dict[str, Any]) -> dict[str, Any]:
        """The answer to options of a use. The counter rises."""
        self.count += 1
        data = self._data(options["rpId"])
        client = self._client("webauthn.get", options["challenge"])
        signature = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        found = {"clientDataJSON": client, "authenticatorData": data, "signature": signature}
        return self._answer({name: _text(value) for name, value in found.items()})

    def _data(self, rp_id: str, flags: int = 0) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verified else 0)
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _answer(self, response: dict[str, str]) -> dict[str, Any]:
        known = {"id": _text(self.id), "rawId": _text(self.id), "type": "public-key"}
        return {**known, "response": response, "clientExtensionResults": {}}
