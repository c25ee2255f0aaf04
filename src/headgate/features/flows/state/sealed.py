"""Encrypts the values of state."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import SecretStr


class Sealer(Protocol):
    """Encrypts stored data."""

    def encrypt(self, secret: SecretStr) -> bytes:
        """Encrypt a text to a token that is safe to store."""

    def decrypt(self, token: bytes) -> SecretStr:
        """Decrypt a token. Raises `Unavailable` when the key is not the one that encrypted it."""


def seal(box: Sealer, content: Mapping[str, Any]) -> bytes:
    """Encrypt a JSON object."""
    return box.encrypt(SecretStr(json.dumps(content, ensure_ascii=False)))


def unseal(box: Sealer, token: bytes) -> dict[str, Any]:
    """Decrypt a JSON object. Raises `Unavailable` when the key is not the same."""
    content: dict[str, Any] = json.loads(box.decrypt(token).get_secret_value())
    return content
