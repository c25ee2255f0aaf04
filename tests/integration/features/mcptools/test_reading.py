"""Resources and prompts of a server in flows, and tools that a step calls without a model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.features.mcptools.test_in_flows import create, register
from tests.support.mcp_server import McpProcess

READING = ["list_resources", "read_resource", "list_prompts", "get_prompt"]
FLOW = """name: Handbook
nodes:
  call: McpCall
    server: weather
    tool_name: {tool}
    arguments: {arguments}
  out: ChatOutput
edges:
  call.data -> out.input
"""


@pytest.fixture
def handbook(tmp_path: Path) -> Iterator[McpProcess]:
    with McpProcess(tmp_path / "tally", "reference") as process:
        yield process


def flow(tool: str, **arguments: Any) -> str:
    return FLOW.format(tool=tool, arguments=json.dumps(arguments))


async def called(client: httpx2.AsyncClient, tool: str, **arguments: Any) -> str:
    """Return the text that the flow shows, or the error of its step."""
    return await outcome(client, flow(tool, **arguments))


async def outcome(client: httpx2.AsyncClient, spec: str) -> str:
    flow_id = await create(client, spec)
    answer = (await client.post(f"/flows/{flow_id}/runs", json={"wait": True})).json()
    return str(answer["text"] if answer["status"] == "completed" else answer.get("error", answer))


class TestResourcesAndPrompts:
    async def test_are_tools_of_the_server(self, client: httpx2.AsyncClient, handbook: McpProcess) -> None:
        await register(client, handbook)
        tools = (await client.get("/mcp-servers/weather/tools")).json()["items"]
        assert [tool["name"] for tool in tools] == ["words", *READING]
        assert all(tool["read_only"] for tool in tools)

    async def test_are_not_offered_by_servers_without_any(self, client: httpx2.AsyncClient, server: McpProcess) -> None:
        await register(client, server)
        tools = (await client.get("/mcp-servers/weather/tools")).json()["items"]
        assert not {tool["name"] for tool in tools} & set(READING)

    async def test_are_listed_and_read_in_a_flow(self, client: httpx2.AsyncClient, handbook: McpProcess) -> None:
        await register(client, handbook)
        assert (await called(client, "list_resources")).splitlines() == [
            "handbook://leave | Leave | Rules of leave.",
            "handbook://logo | logo",
            "handbook://chapters/{number} | chapter",
        ]
        assert await called(client, "read_resource", uri="handbook://leave") == "25 days a year."
        assert await called(client, "read_resource", uri="handbook://chapters/7") == "Chapter 7"
        assert await called(client, "read_resource", uri="handbook://logo") == (
            "[image/png omitted: only text is supported]"
        )
        assert await called(client, "list_prompts") == "refusal(person, reason?) | A polite refusal."
        assert await called(client, "get_prompt", name="refusal", arguments={"person": "Bo"}) == (
            "user: Refuse Bo politely for lack of time."
        )

    @pytest.mark.parametrize(
        ("tool", "arguments", "message"),
        [
            ("read_resource", {"uri": "handbook://none"}, "The server reports: "),
            ("read_resource", {}, "'uri' must be a text"),
            ("get_prompt", {"name": "none"}, "The server reports: "),
            ("get_prompt", {"name": "refusal", "arguments": ["Bo"]}, "must be an object of texts"),
        ],
    )
    async def test_that_cannot_be_read_fail_the_step(
        self, client: httpx2.AsyncClient, handbook: McpProcess, tool: str, arguments: dict[str, Any], message: str
    ) -> None:
        await register(client, handbook)
        assert message in await called(client, tool, **arguments)


class TestMcpCall:
    async def test_returns_the_data_of_a_tool(self, client: httpx2.AsyncClient, handbook: McpProcess) -> None:
        await register(client, handbook)
        assert "tre" in await called(client, "words", text="ett tu tre")

    async def test_names_the_nearest_tool_and_the_form_of_arguments(
        self, client: httpx2.AsyncClient, handbook: McpProcess
    ) -> None:
        await register(client, handbook)
        assert "did you mean 'words'" in await called(client, "word", text="x")
        assert "must be an object" in await outcome(client, flow("words").replace("{}", "[1]"))

    async def test_of_a_disabled_or_unknown_tool_is_an_issue_before_publishing(
        self, client: httpx2.AsyncClient, handbook: McpProcess
    ) -> None:
        await register(client, handbook)
        await client.patch("/mcp-servers/weather/tools/words", json={"enabled": False})
        for tool, message in (("words", "which is disabled"), ("wordz", "which does not exist")):
            flow_id = await create(client, flow(tool, text="x"))
            refused = await client.post(f"/flows/{flow_id}/publish", json={})
            assert message in refused.text
