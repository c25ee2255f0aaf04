"""Secrets of connections as they are stored: encrypted, each a value or a reference to a value outside."""

from collections.abc import Mapping
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from headgate.foundation.crypto import SecretBox

Source = Literal["environment", "file", "vault", "aws", "google", "azure"]


class OutsideValue(BaseModel):
    """A reference to a secret that is stored elsewhere. Headgate reads it when it is used and never stores it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    source: Source = Field(
        alias="from",
        description="environment, file, vault (HashiCorp Vault, OpenBao), or the secret store of aws, google or azure.",
    )
    path: str = Field(
        min_length=1,
        max_length=512,
        description="Name of the variable, file or secret, or path in the vault (KV version 2).",
    )
    key: str = Field(
        default="",
        max_length=256,
        description="Member of the value; of a vault, `value` when empty; else, when empty, the whole value.",
    )

    def __str__(self) -> str:
        return f"{self.source}:{self.path}{'#' if self.key else ''}{self.key}"


Secret = SecretStr | OutsideValue
Secrets = Mapping[str, Secret]


def seal(box: SecretBox, secrets: Secrets) -> bytes | None:
    """Return the encrypted secrets; None when there are none."""
    stored = {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value.model_dump(by_alias=True)
        for name, value in secrets.items()
    }
    return box.encrypt(SecretStr(orjson.dumps(stored).decode())) if stored else None


def unseal(box: SecretBox, sealed: bytes | None) -> dict[str, Secret]:
    """Return the decrypted secrets. Raises `Unavailable` for another key."""
    if sealed is None:
        return {}
    stored = orjson.loads(box.decrypt(sealed).get_secret_value())
    return {
        name: SecretStr(value) if isinstance(value, str) else OutsideValue.model_validate(value)
        for name, value in stored.items()
    }
