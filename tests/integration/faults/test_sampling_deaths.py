"""The server is killed after a model has answered an MCP server, before the call of its tool has ended."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from tests.integration.faults.installation import Installation
from tests.support.mcp_server import McpProcess
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS

FLOW = """name: Short
nodes:
  text: ChatInput
  call: McpCall
    server: helper
    tool_name: stuck
    arguments: {"text": "{{text.text}}"}
  out: ChatOutput
edges:
  call.data -> out.input
"""


class TestServer:
    @pytest.mark.parametrize("mode", ["sampling", pytest.param("legacy-sampling", marks=pytest.mark.campaign)])
    async def test_killed_after_the_answer_pays_for_it_once(
        self, installation: Installation, tmp_path: Path, mode: str
    ) -> None:
        with OpenAIServer() as openai, McpProcess(tmp_path / "tally", mode) as helper:
            openai.script(openai.text("Short.", tokens=(20, 5)), openai.text("Second."))
            settings = {
                "HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS": '["127.0.0.0/8"]',
                "OPENAI_API_KEY": "sk-test-0123456789abcdef",
                "OPENAI_BASE_URL": openai.base_url,
            }
            server = await installation.up(**settings)
            sampling = {"model": "openai/gpt-5-mini", "ask": False}
            async with httpx2.AsyncClient(base_url=f"{server.url}/api/v1", timeout=30) as client:
                made = await client.post(
                    "/mcp-servers", json={"name": "helper", "url": helper.url, "sampling": sampling}
                )
                assert made.is_success, made.text
                assert (await client.post("/mcp-servers/helper/refresh")).is_success
                flow = (await client.post("/flows", json={"spec": FLOW})).json()["id"]
                run = (await client.post(f"/flows/{flow}/runs", json={"text": "Long."})).json()["id"]
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not any(line.startswith("stuck got") for line in helper.calls()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            installation.kill(server)
            helper.tally.with_suffix(".free").touch()
            server = await installation.up(**settings)
            async with (
                httpx2.AsyncClient(base_url=f"{server.url}/api/v1", timeout=30) as client,
                asyncio.timeout(PATIENCE_SECONDS),
            ):
                while (done := (await client.get(f"/flow-runs/{run}")).json())["status"] in {"running", "queued"}:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert done["text"] == "stuck: Short. (openai/gpt-5-mini, endTurn)", done
            assert len(openai.asked) == 1
            [call] = [step for step in done["steps"] if step["step_id"] == "call"]
            assert (call["tokens_input"], call["tokens_output"]) == (20, 5)
