"""Adds the credential of a connection to the requests of an MCP session. Imported with `protocol`."""

from collections.abc import AsyncGenerator
from urllib.parse import parse_qsl, urlsplit

import httpx2

from headgate.features.connections.http import ConnectionHttp
from headgate.foundation import secret_values
from headgate.foundation.guarded_http import Credential
from headgate.foundation.guarded_http.targets import parse_target


class ConnectionAuth(httpx2.Auth):
    """Signs each request; after a 401 once more with a new access token.

    The library's own OAuth client refreshes by itself in each process and stores tokens in memory. Here one process at
    a time refreshes the tokens of a connection, for every user of it.

    Args:
        connection: The client of the connection; it refreshes access tokens.
    """

    def __init__(self, connection: ConnectionHttp) -> None:
        self._connection = connection
        self.sent = secret_values.SecretValues()
        """Values that were sent, for redaction."""

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with the credential. Raises `HostRefused`, and errors of the refresh."""
        credential = await self._connection.current_credential(renewed=False)
        self._sign(request, credential)
        response = yield request
        if response.status_code == 401:
            renewed = await self._connection.current_credential(renewed=True)
            if renewed != credential:
                self._sign(request, renewed)
                yield request

    def _sign(self, request: httpx2.Request, credential: Credential) -> None:
        credential.require(parse_target(str(request.url)))
        for name, value in credential.headers.items():
            self._remember(value)
            request.headers[name] = value
        present = {name for name, _ in parse_qsl(urlsplit(str(request.url)).query, keep_blank_values=True)}
        added = {name: value for name, value in credential.query.items() if name not in present}
        for value in added.values():
            self._remember(value)
        if added:
            request.url = request.url.copy_merge_params(added)

    def _remember(self, value: str) -> None:
        self.sent.add(value)
        self.sent.add(value.rpartition(" ")[2])
