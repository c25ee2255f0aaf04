"""Secrets that are stored outside: environment, files, HashiCorp Vault or OpenBao. Kept in memory for minutes only."""

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import quote

import orjson
from pydantic import SecretStr

from headgate.features.connections.errors import VaultFailed, VaultRefused
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import HttpAnswer
from headgate.foundation.settings import ConnectionSettings

MOST_KEPT = 1000
MAX_FILE_BYTES = 64 * 1024
_RESERVED = "HEADGATE_"


class VaultHttp(Protocol):
    """The guarded client for the operator's vault."""

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, timeout_seconds: float = 30.0
    ) -> HttpAnswer:
        """Send a request."""
        ...


class OutsideValues:
    """Reads outside values.

    Args:
        settings: What the operator allows.
        http: Reaches the vault.
        environment: The server's variables.
    """

    def __init__(
        self, settings: ConnectionSettings, http: VaultHttp, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._settings = settings
        self._http = http
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
            return _member(self._variable(value.path), value)
        if value.source == "file":
            return _member(await asyncio.to_thread(self._file, value.path, tenant_id), value)
        return await self._vault(value, tenant_id, space_id)

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
        return _content(path, name)

    async def _vault(self, value: OutsideValue, tenant_id: str, space_id: str) -> str:
        settings = self._settings
        if settings.vault_url is None:
            raise VaultRefused(
                "No vault is configured here.", remedy="The operator sets HEADGATE_CONNECTIONS__VAULT_URL."
            )
        parts = value.path.strip("/").split("/")
        if any(part in {"", ".", ".."} for part in parts):
            raise VaultRefused(f"{value.path[:80]!r} is not a path in the vault.", remedy="Write it as team/crm.")
        prefix = settings.vault_prefix.format(tenant_id=tenant_id, space_id=space_id)
        url = (
            f"{settings.vault_url.rstrip('/')}/v1/{settings.vault_mount.strip('/')}/data/"
            f"{quote(prefix.strip('/') + '/' if prefix.strip('/') else '')}{quote('/'.join(parts))}"
        )
        headers = {"X-Vault-Token": await asyncio.to_thread(self._token), "X-Vault-Request": "true"}
        if settings.vault_namespace:
            headers["X-Vault-Namespace"] = settings.vault_namespace
        try:
            answer = await self._http.request("GET", url, headers=headers, timeout_seconds=settings.test_seconds)
        except HeadgateError as error:
            raise VaultFailed(f"The vault cannot be used: {error.detail}", remedy="Ask the operator.") from error
        return _of_vault(answer, value)

    def _token(self) -> str:
        settings = self._settings
        if settings.vault_token_file is not None:
            return _content(settings.vault_token_file, "the token of the vault").strip()
        if settings.vault_token is None:
            raise VaultFailed(
                "There is no token for the vault.", remedy="The operator sets HEADGATE_CONNECTIONS__VAULT_TOKEN_FILE."
            )
        return settings.vault_token.get_secret_value()


def _content(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise VaultFailed(f"The file {name[:80]} is larger than {MAX_FILE_BYTES} bytes.")
        return content.decode()
    except (OSError, ValueError) as error:
        raise VaultFailed(f"The file {name[:80]} cannot be read.", remedy="Ask the operator to create it.") from error


def _member(text: str, value: OutsideValue) -> str:
    """Return the text, or a member of it when it is JSON and the reference names one."""
    if not value.key:
        return text.strip("\n")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = None
    member = document.get(value.key) if isinstance(document, dict) else None
    if not isinstance(member, str):
        raise VaultFailed(f"The value {value} has no text '{value.key}'.", remedy="Correct the reference.")
    return member


def _of_vault(answer: HttpAnswer, value: OutsideValue) -> str:
    if answer.status != 200:
        reasons = {
            403: ("refuses the token", "Ask the operator to give the token read access to this path."),
            404: ("has no such value", "Check the path."),
        }
        reason, remedy = reasons.get(answer.status, (f"answered {answer.status}", "Ask the operator."))
        raise VaultFailed(f"The vault {reason}: {value}.", remedy=remedy)
    try:
        content = orjson.loads(answer.content)
        member = content["data"]["data"][value.key or "value"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise VaultFailed(
            f"The vault has no '{value.key or 'value'}' in {value.path}.", remedy="Name a member of the value."
        ) from error
    if not isinstance(member, str):
        raise VaultFailed(f"The value {value} of the vault is no text.", remedy="Store it as text.")
    return member
