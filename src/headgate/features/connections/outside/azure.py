"""Azure Key Vault. Credentials of the server's process are found by Azure's own library."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.features.connections.outside.store import (
    CloudStore,
    StoreHttp,
    answer_of,
    identity_failed,
    json_of,
    member_at,
    member_of,
)
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import ConnectionSettings

if TYPE_CHECKING:
    from azure import identity
    from azure.core import exceptions
else:
    identity = lazy_module("azure.identity")
    exceptions = lazy_module("azure.core.exceptions")

SERVICE = "Azure"
SCOPE = "https://vault.azure.net/.default"
API_VERSION = "7.4"
STORE = CloudStore("Azure Key Vault", "azure_url", "azure-secrets", r"[A-Za-z0-9-]{1,127}")


class AzureSecrets:
    """The secrets of an Azure key vault.

    Args:
        settings: URL of the vault, and the prefix.
        http: Reaches the service.
    """

    def __init__(self, settings: ConnectionSettings, http: StoreHttp) -> None:
        self._settings = settings
        self._http = http

    async def read(self, value: OutsideValue, *, tenant_id: str, space_id: str) -> str:
        """Return the current version of a secret. Raises `VaultRefused`, `VaultFailed`, `ExtraNotInstalled`."""
        settings = self._settings
        name = STORE.name(settings, value, tenant_id=tenant_id, space_id=space_id)
        try:
            token = (await asyncio.to_thread(self._credential.get_token, SCOPE)).token
        except exceptions.AzureError as error:
            raise identity_failed(SERVICE, error) from error
        url = f"{settings.azure_url.rstrip('/')}/secrets/{name}?api-version={API_VERSION}"
        headers = {"Authorization": f"Bearer {token}"}
        answer = await answer_of(self._http, url, headers, settings.test_seconds)
        return member_of(member_at(json_of(answer, value), ("value",), value), value)

    @cached_property
    def _credential(self) -> "identity.DefaultAzureCredential":
        return identity.DefaultAzureCredential()
