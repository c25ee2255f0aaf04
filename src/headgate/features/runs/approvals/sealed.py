"""Encrypts what users are shown and what they respond."""

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import SecretStr

from headgate.features.runs.ports.flows import Sealer


def seal(box: Sealer, content: Mapping[str, Any]) -> bytes:
    """Encrypt a JSON object."""
    return box.encrypt(SecretStr(orjson.dumps(content).decode()))


def unseal(box: Sealer, token: bytes) -> dict[str, Any]:
    """Decrypt a JSON object. Raises `Unavailable` when the key is not the same."""
    content: dict[str, Any] = orjson.loads(box.decrypt(token).get_secret_value())
    return content
