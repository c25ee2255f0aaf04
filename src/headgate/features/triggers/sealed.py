"""Encrypts what triggers keep: secrets of addresses, caught calls, the input of occurrences that wait."""

from pydantic import SecretStr

from headgate.features.runs.ports.flows import Sealer


def seal(box: Sealer, content: str) -> bytes:
    """Encrypt text."""
    return box.encrypt(SecretStr(content))


def unseal(box: Sealer, token: bytes) -> str:
    """Decrypt text. Raises `Unavailable` when the key is not the same."""
    return box.decrypt(token).get_secret_value()
