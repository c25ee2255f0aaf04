"""Reads secrets that are stored outside: environment, files, secret stores. Kept in memory for minutes only."""

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import PurePosixPath

from pydantic import SecretStr

from headgate.features.connections.errors import VaultFailed, VaultRefused
from headgate.features.connections.outside.aws import AwsSecrets
from headgate.features.connections.outside.azure import AzureSecrets
from headgate.features.connections.outside.google import GoogleSecrets
from headgate.features.connections.outside.store import SecretStore, StoreHttp, content_of, member_of
from headgate.features.connections.outside.vault import Vault
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.settings import ConnectionSettings

MOST_KEPT = 1000
_RESERVED = "HEADGATE_"


class OutsideValues:
    """Reads outside values.

    Args:
        settings: What the operator allows.
        http: Reaches the secret stores.
        environment: The server's variables.
    """

    def __init__(
        self, settings: ConnectionSettings, http: StoreHttp, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._settings = settings
        self._stores: dict[str, SecretStore] = {
            "vault": Vault(settings, http),
            "aws": AwsSecrets(settings, http),
            "google": GoogleSecrets(settings, http),
            "azure": AzureSecrets(settings, http),
        }
        self._environment = environment
        self._kept: OrderedDict[tuple[str, str, OutsideValue], tuple[float, SecretStr]] = OrderedDict()

    async def read(self, value: OutsideValue, *, tenant_id: str, space_id: str) -> SecretStr:
        """Return a value, at most `cache_seconds` old. Raises `VaultRefused`, `VaultFailed`."""
        key = (tenant_id, space_id, value)
        cached = self._kept.get(key)
        if cached is not None and time.monotonic() - cached[0] < self._settings.cache_seconds:
            return cached[1]
        text = await self._read(value, tenant_id, space_id)
        if not text:
            raise VaultFailed(f"The value {value} is empty.", remedy="Set it where it is stored.")
        secret = SecretStr(text)
        self._kept[key] = (time.monotonic(), secret)
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return secret

    def forget(self) -> None:
        """Read every value again at its next use."""
        self._kept.clear()

    async def _read(self, value: OutsideValue, tenant_id: str, space_id: str) -> str:
        if value.source == "environment":
            return member_of(self._variable(value.path), value)
        if value.source == "file":
            return member_of(await asyncio.to_thread(self._file, value.path, tenant_id), value)
        return await self._stores[value.source].read(value, tenant_id=tenant_id, space_id=space_id)

    def _variable(self, name: str) -> str:
        if name not in self._settings.environment or name.upper().startswith(_RESERVED):
            raise VaultRefused(
                f"Connections may not refer to the environment variable {name[:80]}.",
                remedy="The operator lists it in HEADGATE_CONNECTIONS__ENVIRONMENT.",
            )
        if name not in self._environment:
            raise VaultFailed(f"The environment variable {name} is not set.", remedy="Ask the operator to set it.")
        return self._environment[name].strip()

    def _file(self, name: str, tenant_id: str) -> str:
        folder = self._settings.files
        if folder is None:
            raise VaultRefused(
                "Connections may not refer to files here.",
                remedy="The operator sets HEADGATE_CONNECTIONS__FILES to a folder.",
            )
        root = (folder / tenant_id).resolve()
        path = (root / name).resolve()
        if PurePosixPath(name).is_absolute() or not path.is_relative_to(root):
            raise VaultRefused(
                f"The file {name[:80]} is outside of the organisation's folder for secrets.",
                remedy=f"Name a file in its folder {tenant_id}.",
            )
        return content_of(path, name)
