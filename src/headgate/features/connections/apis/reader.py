"""Reads descriptions for users: fetched or pasted, parsed in a process that can be killed, then stored."""

import hashlib
from dataclasses import dataclass

from headgate.components.isolated.calls import Runners, TenantIsolation, read_api
from headgate.components.readers.api.description import ApiDescription
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.connections.apis import service
from headgate.features.connections.apis.schemas import ApiChangesOut, ApiDocumentIn, ApiSuggestionOut
from headgate.features.connections.http import GuardedClient
from headgate.features.connections.service import get_connection
from headgate.foundation.database import Database
from headgate.foundation.errors import UpstreamFailed

FETCH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ApiReader:
    """Reads descriptions of APIs.

    Args:
        database: The database of connections.
        http: Fetches documents, without any credential.
        runners: Processes that parse them.
    """

    database: Database
    http: GuardedClient
    runners: Runners

    async def describe(self, principal: Principal, id_or_name: str, document: ApiDocumentIn) -> ApiChangesOut:
        """Read a description, and store it with a connection. No transaction is open while it is read.

        Raises `ConnectionNotFound`, `PermissionMissing`, `Unreadable` with the place, `UpstreamFailed`, `Forbidden`.
        """
        async with self.database.reading() as session:
            await get_connection(session, principal, id_or_name, manage=True)
        description, sha256 = await self._read(principal, document)
        async with self.database.writing() as session:
            row, changes = await service.store_description(session, principal, id_or_name, description, sha256=sha256)
            return ApiChangesOut(
                api=await service.api_out(session, row),
                added=list(changes.added)[: service.MOST_NAMED],
                changed=list(changes.changed)[: service.MOST_NAMED],
                removed=list(changes.removed)[: service.MOST_NAMED],
            )

    async def suggest(self, principal: Principal, document: ApiDocumentIn) -> ApiSuggestionOut:
        """Return the connection that a description needs; nothing is stored. Raises as `describe`."""
        principal.require_somewhere(Permission.CONNECTIONS_OWN)
        description, _ = await self._read(principal, document)
        address = {"url": description.server} if description.server else {}
        return ApiSuggestionOut(
            title=description.title,
            format=description.format,
            operations=len(description.operations),
            kind=description.authentication.kind,
            fields={**address, **description.authentication.fields},
        )

    async def _read(self, principal: Principal, document: ApiDocumentIn) -> tuple[ApiDescription, str]:
        content = document.content.encode(errors="replace") if document.content else await self._fetch(document.url)
        description = await read_api(TenantIsolation(self.runners, principal.tenant_id), content)
        return description, hashlib.sha256(content).hexdigest()

    async def _fetch(self, url: str) -> bytes:
        headers = {"accept": "application/json, application/yaml, text/yaml, */*;q=0.5"}
        answer = await self.http.request("GET", url.strip(), headers=headers, timeout_seconds=FETCH_SECONDS)
        if answer.status >= 400:
            raise UpstreamFailed(
                f"The description of the API cannot be fetched: the server answered {answer.status}.",
                remedy="Download it, and give the file.",
                upstream_status=answer.status,
            )
        return answer.content
