"""OAuth 2.1 with a real authorization server and the MCP server behind it: discovery to rotation, in two processes."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from headgate.foundation.settings import Settings
from tests.integration.features.connections.test_oauth import plain
from tests.support.connections import create
from tests.support.mcp_server import McpProcess

FLOW = """name: Who
nodes:
  tools: McpTools
    server: guarded
    tools: ["whoami"]
  each: Map
    items: [{"greeting": "hello"}]
  out: ChatOutput
edges:
  tools.tools -> each.each
  each.text -> out.input
"""


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[McpProcess]:
    """An MCP server that asks for a token."""
    with McpProcess(tmp_path / "tally", "oauth") as process:
        yield process


async def register(client: httpx2.AsyncClient, server: McpProcess) -> None:
    """Register the server."""
    answer = await client.post("/mcp-servers", json={"name": "guarded", "url": server.url})
    assert answer.status_code == 201, answer.text


async def start(client: httpx2.AsyncClient, **members: Any) -> httpx2.Response:
    """Begin an authorization."""
    return await client.post("/mcp-servers/guarded/authorize", json=members)


async def agree(url: str) -> dict[str, str]:
    """Agree at the provider; return what it sends the browser back with."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert back.path == "/settings/connections"
    return dict(parse_qsl(back.query))


async def authorize(client: httpx2.AsyncClient, server: McpProcess, **members: Any) -> None:
    """Register the server, authorize it as a browser does, and list its tools."""
    await register(client, server)
    started = await start(client, **members)
    assert started.status_code == 200, started.text
    done = await client.post("/connections/authorizations", json=await agree(started.json()["url"]))
    assert done.json()["status"] == "ready", done.text
    refreshed = await client.post("/mcp-servers/guarded/refresh")
    assert [tool["name"] for tool in refreshed.json()["tools"]] == ["whoami", "expire"], refreshed.text


async def called(settings: Settings, tool: str, times: int) -> list[list[str]]:
    """The results of two processes that call a tool at the same time."""
    patient = {"connect_seconds": 60, "timeout_seconds": 60}
    text = json.dumps(plain(settings) | {"mcp": patient})
    command = [sys.executable, "-m", "tests.support.mcp_calling_process", text, "guarded", tool, str(times)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        while (line := await asyncio.to_thread(process.stdout.readline)) != "ready\n":
            assert line, "the process has ended"
    outputs = await asyncio.gather(*(asyncio.to_thread(process.communicate, "\n") for process in processes))
    return [json.loads(output[0].strip().splitlines()[-1]) for output in outputs]


class TestAuthorize:
    async def test_discovers_registers_and_calls_tools(self, client: httpx2.AsyncClient, guarded: McpProcess) -> None:
        await authorize(client, guarded)
        connection = (await client.get("/connections/guarded")).json()
        fields = connection["fields"]
        assert (fields["resource"], fields["scopes"]) == (guarded.url, "tools")
        assert connection["secret_names"] == ["client_secret"]
        assert (await client.get("/mcp-servers/guarded")).json()["connection"] == "guarded"
        lines = guarded.calls()
        assert lines[0].startswith("registered Headgate client_secret_")
        assert lines[1:3] == [f"authorized for {guarded.url}", f"issued for {guarded.url}"]

    async def test_says_how_to_go_on_where_a_token_is_missing(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        await register(client, guarded)
        answer = (await client.post("/mcp-servers/guarded/refresh")).json()
        assert answer["code"] == "mcp_server_failed"
        assert "headgate mcp-servers authorize guarded" in answer["remedy"]

    async def test_the_token_is_not_in_what_a_tool_returns(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        """The server echoes its tokens."""
        await authorize(client, guarded)
        flow = await create(client, FLOW)
        run = (await client.post(f"/flows/{flow}/runs", json={"wait": True})).json()
        assert run["status"] == "completed", json.dumps(run)
        text = json.dumps(run)
        assert "a user with" in text
        assert "access-" not in text
        events = (await client.get(f"/runs/{run['id']}/evidence")).text
        assert "access-" not in events

    async def test_a_second_authorization_registers_no_second_client(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        await authorize(client, guarded)
        again = await start(client)
        assert again.json()["state"] == "redirect"
        assert len([line for line in guarded.calls() if line.startswith("registered")]) == 1
        assert (await start(client, register_again=True)).status_code == 200
        assert len([line for line in guarded.calls() if line.startswith("registered")]) == 2

    async def test_a_public_client_has_no_secret_of_an_earlier_one(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        await authorize(client, guarded)
        before = (await client.get("/connections/guarded")).json()
        fields = {**before["fields"], "test_path": "/health"}
        assert (await client.patch("/connections/guarded", json={"fields": fields})).status_code == 200
        assert (await start(client, client_id="public")).status_code == 200
        changed = (await client.get("/connections/guarded")).json()
        assert changed["secret_names"] == []
        assert (changed["fields"]["client_id"], changed["fields"]["test_path"]) == ("public", "/health")

    async def test_a_connection_with_the_same_name_for_another_server_stays(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        fields = {
            "url": "https://api.example.org",
            "authorization_url": "https://login.example.org/a",
            "token_url": "https://login.example.org/t",
            "client_id": "another",
        }
        body = {"name": "guarded", "kind": "oauth2_code", "fields": fields}
        assert (await client.post("/connections", json=body)).status_code == 201
        await register(client, guarded)
        for members in ({}, {"register_again": True}):
            refused = await start(client, **members)
            assert (refused.status_code, refused.json()["code"]) == (422, "bad_mcp_server"), refused.text
        assert (await client.get("/connections/guarded")).json()["fields"]["client_id"] == "another"

    async def test_an_own_connection_for_the_server_is_named_at_it(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        await authorize(client, guarded)
        assert (await client.patch("/mcp-servers/guarded", json={"connection": ""})).status_code == 200
        assert (await start(client)).status_code == 200
        assert (await client.get("/mcp-servers/guarded")).json()["connection"] == "guarded"

    async def test_a_provider_that_registers_nobody_needs_a_client_id(
        self, client: httpx2.AsyncClient, tmp_path: Path
    ) -> None:
        with McpProcess(tmp_path / "tally", "unregistered") as server:
            await register(client, server)
            refused = await start(client)
            assert refused.json()["code"] == "mcp_not_authorizable"
            assert "http://127.0.0.1:7411/settings/connections" in refused.json()["remedy"]
            given = await start(client, client_id="ours", client_secret="by-hand")
        assert "client_id=ours" in given.json()["url"]

    async def test_a_server_without_authorization_is_not_authorized(
        self, client: httpx2.AsyncClient, server: McpProcess
    ) -> None:
        await register(client, server)
        answer = await start(client)
        assert (answer.status_code, answer.json()["code"]) == (422, "mcp_not_authorizable")

    async def test_an_answer_of_another_issuer_is_refused(
        self, client: httpx2.AsyncClient, guarded: McpProcess
    ) -> None:
        await register(client, guarded)
        query = await agree((await start(client)).json()["url"])
        answer = await client.post("/connections/authorizations", json={**query, "iss": "https://evil.example.net"})
        assert answer.status_code == 502
        assert "another issuer" in answer.text


class TestRefresh:
    async def test_two_processes_refresh_once(
        self, client: httpx2.AsyncClient, settings: Settings, guarded: McpProcess
    ) -> None:
        """Each refresh token is used once: the provider revokes everything when one comes a second time."""
        await authorize(client, guarded)
        (first, *_), *_ = await called(settings, "expire", 1)
        assert first == "expired"
        results = await called(settings, "whoami", 2)
        assert [result.partition(" with")[0] for process in results for result in process] == [": a user"] * 4
        lines = guarded.calls()
        assert lines.count("refreshed") <= 2
        assert "reused" not in lines

    async def test_a_token_that_expires_is_replaced_in_time(
        self, client: httpx2.AsyncClient, settings: Settings, tmp_path: Path
    ) -> None:
        with McpProcess(tmp_path / "tally", "oauth", lifetime=4) as server:
            await authorize(client, server)
            for _ in range(3):
                await asyncio.sleep(2.2)
                answer = await client.post("/mcp-servers/guarded/refresh")
                assert answer.status_code == 200, answer.text
            lines = server.calls()
        assert lines.count("refreshed") >= 2
        assert "reused" not in lines
