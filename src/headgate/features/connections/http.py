"""The HTTP client of a connection: adds its credential, and reaches its hosts only."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from headgate.features.connections.kinds import Kind
from headgate.foundation.errors import Invalid
from headgate.foundation.guarded_http import Credential, HttpAnswer
from headgate.graph.names import listed
from headgate.sdk import HTTP_KINDS

CredentialOf = Callable[[bool], Awaitable[Credential | None]]
"""Returns the credential; called with True after a 401, for a new access token."""


class GuardedClient(Protocol):
    """The guarded client with credentials."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
        credential: Credential | None = None,
    ) -> HttpAnswer:
        """Send one request."""


@dataclass(frozen=True, slots=True)
class ConnectionHttp:
    """See the module."""

    client: GuardedClient
    name: str
    credential: CredentialOf

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request with the credential. Raises `HostRefused` for another server.

        After a 401 it is sent once more when there is a new access token: the server did not accept the first.
        """
        credential = await self.current_credential(renewed=False)

        async def send(credential: Credential) -> HttpAnswer:
            return await self.client.request(
                method, url, headers=headers, body=body, timeout_seconds=timeout_seconds, credential=credential
            )

        answer = await send(credential)
        if answer.status != 401:
            return answer
        renewed = await self.current_credential(renewed=True)
        return answer if renewed == credential else await send(renewed)

    async def current_credential(self, *, renewed: bool) -> Credential:
        """Return the credential; `renewed` after a server rejected the last one. Raises `Invalid` where there is none.

        Raises also as the refresh of an access token does.
        """
        credential = await self.credential(renewed)
        if credential is None:
            raise Invalid(
                f"The connection '{self.name}' is not for HTTP requests.",
                remedy=f"Choose one of the kinds {listed(HTTP_KINDS, most=10)}.",
            )
        return credential


def static_credential(
    kind: Kind, name: str, fields: Mapping[str, object], secrets: Mapping[str, str], hosts: tuple[str, ...]
) -> Credential | None:
    """Return the credential of a connection without OAuth; None when it is not for HTTP."""
    owner = f"the connection '{name}'"
    if kind.adds == "header":
        prefix = str(fields.get("prefix") or "")
        key = secrets.get("key", "")
        return Credential(owner, hosts, headers={str(fields["header"]): f"{prefix} {key}".strip()})
    if kind.adds == "query":
        return Credential(owner, hosts, query={str(fields["parameter"]): secrets.get("key", "")})
    if kind.adds == "basic":
        content = f"{fields.get('user') or ''}:{secrets.get('password', '')}".encode()
        return Credential(owner, hosts, headers={"Authorization": f"Basic {base64.b64encode(content).decode()}"})
    if kind.adds == "hosts":
        return Credential(owner, hosts)
    if kind.adds == "bearer":
        token = secrets.get("token") or secrets.get("key") or ""
        return Credential(owner, hosts, headers={"Authorization": f"Bearer {token}"} if token else {})
    # The component signs its own requests, as for S3: the hosts are enforced all the same.
    return Credential(owner, hosts) if any("://" in host for host in hosts) else None


def bearer(name: str, hosts: tuple[str, ...], token: str) -> Credential:
    """Return the credential of an access token."""
    return Credential(f"the connection '{name}'", hosts, headers={"Authorization": f"Bearer {token}"})
