"""Search in the operator's MCP registry: `GET {registry_url}/v0.1/servers` of the registry API.

Entries are untrusted: texts are cleaned and limited, and only servers that are reached by a URL are returned.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import orjson

from headgate.features.mcptools.descriptions import clean
from headgate.features.mcptools.errors import McpRegistryFailed
from headgate.features.mcptools.schemas import RegistryHeader, RegistryOut, RegistryServer
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import HttpAnswer
from headgate.foundation.guarded_http.headers import check_headers
from headgate.foundation.settings import McpSettings
from headgate.graph.names import clipped

MOST_SERVERS = 50
MOST_HEADERS = 20
LONGEST_SEARCH = 100
_NO_NAME = re.compile(r"[^a-z0-9_-]+")


class RegistryHttp(Protocol):
    """The guarded client for the registry."""

    async def request(self, method: str, url: str, *, timeout_seconds: float = 30.0) -> HttpAnswer:
        """Send a request."""
        ...


@dataclass(frozen=True, slots=True)
class McpRegistry:
    """The registry that the operator configured.

    Args:
        settings: Its URL and the time limit.
        http: Reaches it.
    """

    settings: McpSettings
    http: RegistryHttp

    async def search(self, text: str) -> RegistryOut:
        """Return the newest versions of servers whose name contains the text; at most 50.

        Raises `McpRegistryFailed`.
        """
        base = self.settings.registry_url
        if base is None:
            return RegistryOut(configured=False, items=[], omitted=0, more=False)
        query = f"search={quote(text.strip()[:LONGEST_SEARCH])}&version=latest&limit={MOST_SERVERS}"
        url = f"{base.rstrip('/')}/v0.1/servers?{query}"
        try:
            answer = await self.http.request("GET", url, timeout_seconds=self.settings.connect_seconds)
        except HeadgateError as error:
            raise McpRegistryFailed(f"The MCP registry cannot be used: {error.detail}") from error
        if answer.status != 200:
            raise McpRegistryFailed(f"The MCP registry answered {answer.status}.")
        try:
            content = orjson.loads(answer.content)
            entries = [entry["server"] for entry in content["servers"]][:MOST_SERVERS]
            more = bool((content.get("metadata") or {}).get("nextCursor"))
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
            raise McpRegistryFailed("The MCP registry did not answer with a list of servers.") from error
        servers = [server for entry in entries for server in _servers(entry)]
        return RegistryOut(configured=True, items=servers, omitted=len(entries) - len(servers), more=more)


def _servers(entry: Any) -> Iterator[RegistryServer]:  # noqa: ANN401 - any JSON value
    """Yield the server of an entry; nothing when it has no URL that can be used."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        return
    remotes = entry.get("remotes")
    for remote in remotes if isinstance(remotes, list) else ():
        if isinstance(remote, Mapping) and remote.get("type") == "streamable-http" and _is_url(remote.get("url")):
            name = _text(entry["name"], 200)
            yield RegistryServer(
                name=name,
                title=_text(entry.get("title"), 200) or name,
                description=_text(entry.get("description"), 500),
                version=_text(entry.get("version"), 50),
                url=remote["url"],
                headers=list(_headers(remote.get("headers"))),
                suggested_name=_NO_NAME.sub("-", name.rpartition("/")[2].lower())
                .strip("-_")
                .lstrip("-_0123456789")[:64]
                or "server",
            )
            return


def _headers(headers: Any) -> Iterator[RegistryHeader]:  # noqa: ANN401 - any JSON value
    for header in headers[:MOST_HEADERS] if isinstance(headers, list) else ():
        name = header.get("name") if isinstance(header, Mapping) else None
        if not isinstance(name, str):
            continue
        try:
            check_headers({name: ""})
        except HeadgateError:
            continue
        yield RegistryHeader(
            name=name, description=_text(header.get("description"), 300), required=header.get("isRequired") is True
        )


def _is_url(url: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether it is a URL without parts that a user must fill in."""
    if not isinstance(url, str) or len(url) > 2000 or clean(url) != url or set(url) & set("{} "):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"https", "http"} and bool(parts.hostname) and parts.username is None


def _text(value: Any, most: int) -> str:  # noqa: ANN401 - any JSON value
    return clipped(" ".join(clean(value).split()), most) if isinstance(value, str) else ""
