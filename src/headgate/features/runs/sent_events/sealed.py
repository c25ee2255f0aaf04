"""Encrypts the data of events."""

import orjson
from pydantic import JsonValue, SecretStr

from headgate.features.runs.ports.flows import Sealer


def seal(box: Sealer, data: bytes) -> bytes:
    """Encrypt JSON."""
    return box.encrypt(SecretStr(data.decode()))


def unseal(box: Sealer, token: bytes) -> JsonValue:
    """Decrypt JSON. Raises `Unavailable` when the key is not the same."""
    data: JsonValue = orjson.loads(box.decrypt(token).get_secret_value())
    return data
