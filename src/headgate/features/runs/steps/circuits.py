"""The HTTP client of a step, behind the circuit breakers of its tenant."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from headgate.features.runs.ports.limits import Circuits
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import HttpAnswer, HttpClient

SERVER_ERROR = 500
LONGEST_HOST = 300
TOOL_FAILED = "mcp_tool_failed"
"""Code of the refusal of a tool, which is an answer of its server; see `mcptools.errors`."""


class CircuitHttp:
    """Asks no host that fails. Failures are those to connect and to answer in time, and answers from 500."""

    def __init__(self, http: HttpClient, circuits: Circuits, tenant_id: str) -> None:
        self._http = http
        self._circuits = circuits
        self._tenant_id = tenant_id

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request. Raises `CircuitOpen`, or what the client raises."""
        host = host_of(url)
        await self._circuits.enter(self._tenant_id, host)
        try:
            answer = await self._http.request(method, url, headers=headers, body=body, timeout_seconds=timeout_seconds)
        except UpstreamFailed as error:
            await self._circuits.failed(self._tenant_id, host, error.code)
            raise
        if answer.status >= SERVER_ERROR:
            await self._circuits.failed(self._tenant_id, host, f"http_{answer.status}")
        else:
            await self._circuits.succeeded(self._tenant_id, host)
        return answer


@asynccontextmanager
async def breaking(
    circuits: Circuits | None, tenant_id: str, host: str, *, answered: Callable[[Exception], bool]
) -> AsyncIterator[None]:
    """Hold around one call of an MCP server. Raises `CircuitOpen`, and what the call raises.

    A server whose tool refuses has answered, and so has one with an error that is `answered`.
    """
    if circuits is None:
        yield
        return
    await circuits.enter(tenant_id, host)
    try:
        yield
    except UpstreamFailed as error:
        if error.code == TOOL_FAILED or answered(error):
            await circuits.succeeded(tenant_id, host)
        else:
            await circuits.failed(tenant_id, host, error.code)
        raise
    await circuits.succeeded(tenant_id, host)


def host_of(url: str) -> str:
    """Return name and port of a URL, in lower case; empty for one that is not valid."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443}.get(parts.scheme, 80)
        return f"{(parts.hostname or '').lower()}:{port}"[:LONGEST_HOST]
    except ValueError:
        return ""
