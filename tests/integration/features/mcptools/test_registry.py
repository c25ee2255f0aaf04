"""Search in an MCP registry: a real server with its API, version 0.1."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from headgate.features.mcptools.errors import McpRegistryFailed
from headgate.features.mcptools.registry import McpRegistry
from headgate.features.mcptools.schemas import RegistryOut
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.guarded_http.outgoing import MCP_REGISTRY
from headgate.foundation.settings import HttpSettings, McpSettings, OutgoingSettings
from tests.support.web_server import WebServer, answer, web_server

PATH = "/v0.1/servers?search=weather&version=latest&limit=50"
REMOTE = {"type": "streamable-http", "url": "https://weather.example.org/mcp"}


def entry(**members: Any) -> dict[str, Any]:
    server = {"name": "io.github.example/Weather.2", "description": "Forecasts.", "version": "1.2.0"}
    return {"server": server | {"remotes": [REMOTE]} | members, "_meta": {}}


def listed(*entries: Any, cursor: str = "") -> bytes:
    content = {"servers": list(entries), "metadata": {"nextCursor": cursor} if cursor else {"count": len(entries)}}
    return answer(200, json.dumps(content), content_type="application/json")


@pytest.fixture
async def api() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        yield server


async def search(api: WebServer, text: str = "weather") -> RegistryOut:
    http = GuardedHttp(MCP_REGISTRY.limits(HttpSettings()), OutgoingSettings())
    try:
        return await McpRegistry(McpSettings(registry_url=f"{api.origin}/"), http).search(text)
    finally:
        await http.close()


class TestSearch:
    async def test_finds_servers_that_are_reached_by_a_url(self, api: WebServer) -> None:
        key = {"name": "X-Api-Key", "description": "From your profile.", "isRequired": True, "isSecret": True}
        api.on(
            PATH,
            listed(
                entry(
                    title="Weather",
                    remotes=[{"type": "sse", "url": "https://old.example.org"}, REMOTE | {"headers": [key]}],
                ),
                entry(name="io.github.example/files", remotes=[], packages=[{"registryType": "npm"}]),
                cursor="next",
            ),
        )
        result = await search(api, " weather ")
        (server,) = result.items
        assert (server.title, server.url, server.version) == ("Weather", REMOTE["url"], "1.2.0")
        assert server.suggested_name == "weather-2"
        assert [(header.name, header.required) for header in server.headers] == [("X-Api-Key", True)]
        assert (result.configured, result.omitted, result.more) == (True, 1, True)

    @pytest.mark.parametrize(
        "members",
        [
            {"remotes": [{"type": "streamable-http", "url": url}]}
            for url in (
                "file:///etc/passwd",
                "javascript:alert(1)",
                "https://user:pass@example.org/",
                "https://{tenant}.example.org/mcp",
                "https://exa\u202emple.org/",
                "https://[::1",
                None,
                5,
            )
        ]
        + [{"remotes": "https://example.org"}, {"remotes": [None, []]}, {"name": None}],
    )
    async def test_omits_and_counts_entries_that_cannot_be_used(self, api: WebServer, members: dict[str, Any]) -> None:
        api.on(PATH, listed(entry(**members)))
        result = await search(api)
        assert (result.items, result.omitted) == ([], 1)

    async def test_cleans_and_limits_texts(self, api: WebServer) -> None:
        bad = [{"name": "X\r\nInjected"}, {"name": 3}, "x"]
        api.on(
            PATH,
            listed(
                entry(
                    name="../..",
                    title="a\u202eb\x1b[2J",
                    description="x" * 5000,
                    version=["1"],
                    remotes=[REMOTE | {"headers": bad}],
                )
            ),
        )
        (server,) = (await search(api)).items
        assert (server.title, server.version, server.headers, server.suggested_name) == ("ab[2J", "", [], "server")
        assert len(server.description) <= 500

    @pytest.mark.parametrize("content", ["[]", "{", '{"servers": 5}', '{"servers": [5]}', '{"servers": [{}]}', "null"])
    async def test_says_that_an_answer_is_no_list_of_servers(self, api: WebServer, content: str) -> None:
        api.on(PATH, answer(200, content, content_type="application/json"))
        with pytest.raises(McpRegistryFailed, match="did not answer with a list of servers"):
            await search(api)

    async def test_says_that_the_registry_failed(self, api: WebServer) -> None:
        with pytest.raises(McpRegistryFailed, match="answered 404"):
            await search(api)
        api.on(PATH, answer(302, "", location="https://example.org/"))
        with pytest.raises(McpRegistryFailed):
            await search(api)


class TestRoute:
    async def test_says_that_there_is_none(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/mcp-registry", params={"search": "weather"})
        assert found.json() == {"configured": False, "items": [], "omitted": 0, "more": False}

    async def test_limits_the_search(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/mcp-registry", params={"search": "x" * 101})).status_code == 422
