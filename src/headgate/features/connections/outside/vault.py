"""HashiCorp Vault and OpenBao: the KV engine, version 2."""

import asyncio
from urllib.parse import quote

from headgate.features.connections.errors import VaultFailed, VaultRefused
from headgate.features.connections.outside.store import StoreHttp, answer_of, content_of, json_of, member_at
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.settings import ConnectionSettings


class Vault:
    """A Vault or OpenBao server.

    Args:
        settings: Its URL, mount, prefix, namespace and token.
        http: Reaches it.
    """

    def __init__(self, settings: ConnectionSettings, http: StoreHttp) -> None:
        self._settings = settings
        self._http = http

    async def read(self, value: OutsideValue, *, tenant_id: str, space_id: str) -> str:
        """Return a member of a value. Raises `VaultRefused`, `VaultFailed`."""
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
        answer = await answer_of(self._http, url, headers, settings.test_seconds)
        return member_at(json_of(answer, value), ("data", "data", value.key or "value"), value)

    def _token(self) -> str:
        settings = self._settings
        if settings.vault_token_file is not None:
            return content_of(settings.vault_token_file, "the token of the vault").strip()
        if settings.vault_token is None:
            raise VaultFailed(
                "There is no token for the vault.", remedy="The operator sets HEADGATE_CONNECTIONS__VAULT_TOKEN_FILE."
            )
        return settings.vault_token.get_secret_value()
