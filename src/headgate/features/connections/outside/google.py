"""Google Secret Manager. Credentials of the server's process are found by Google's own library."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.features.connections.outside.store import (
    CloudStore,
    StoreHttp,
    answer_of,
    decoded,
    identity_failed,
    json_of,
    member_at,
    member_of,
)
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import ConnectionSettings

if TYPE_CHECKING:
    from google import auth
    from google.auth import exceptions
    from google.auth.transport import requests as transport
else:
    auth = lazy_module("google.auth")
    exceptions = lazy_module("google.auth.exceptions")
    transport = lazy_module("google.auth.transport.requests")

SERVICE = "Google"
SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
STORE = CloudStore("Google Secret Manager", "google_project", "google-secrets", r"[A-Za-z0-9_-]{1,255}")


class GoogleSecrets:
    """The secrets of a Google Cloud project.

    Args:
        settings: The project and prefix.
        http: Reaches the service.
    """

    def __init__(self, settings: ConnectionSettings, http: StoreHttp) -> None:
        self._settings = settings
        self._http = http

    async def read(self, value: OutsideValue, *, tenant_id: str, space_id: str) -> str:
        """Return the latest version of a secret. Raises `VaultRefused`, `VaultFailed`, `ExtraNotInstalled`."""
        settings = self._settings
        name = STORE.name(settings, value, tenant_id=tenant_id, space_id=space_id)
        try:
            token = await asyncio.to_thread(self._token)
        except exceptions.GoogleAuthError as error:
            raise identity_failed(SERVICE, error) from error
        url = f"{settings.google_url}/v1/projects/{settings.google_project}/secrets/{name}/versions/latest:access"
        headers = {"Authorization": f"Bearer {token}"}
        answer = await answer_of(self._http, url, headers, settings.test_seconds)
        return member_of(decoded(member_at(json_of(answer, value), ("payload", "data"), value), value), value)

    def _token(self) -> str:
        if not self._credentials.valid:
            self._credentials.refresh(transport.Request())  # type: ignore[no-untyped-call]
        return str(self._credentials.token)

    @cached_property
    def _credentials(self) -> "auth.credentials.Credentials":
        credentials, _project = auth.default(scopes=SCOPES)
        return credentials
