"""Real processes: a client that starts Headgate itself, a server that several watch, runs that are given up."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from headgate.foundation.settings import Settings
from tests.support.mcp_client import FLOW, REVISIONS, Mode, connected, done, refused
from tests.support.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
WAITS = """name: Wait
nodes:
  heard: ChatInput
  gate: Gate
    folder: {folder}
edges:
  heard.text -> gate.input
"""
COMMAND = ["-m", "tests.support.headgate_process"]


def environment(settings: Settings) -> dict[str, str]:
    """What a process needs to work on the database of a test."""
    return os.environ | {"HEADGATE_DATA_DIR": str(settings.data_dir), "PYTHONPATH": str(ROOT)}


@asynccontextmanager
async def program(settings: Settings, mode: Mode = "auto", *options: str) -> AsyncIterator[Client]:
    """A client that started `headgate mcp serve`."""
    arguments = [*COMMAND, *options, "mcp", "serve"]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment(settings), cwd=ROOT)
    async with Client(stdio_client(parameters), mode=mode, cache=None) as client:
        yield client


@asynccontextmanager
async def server(settings: Settings) -> AsyncIterator[str]:
    """The address of `headgate serve`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        *("serve", "--port", "0", "--json"),
        env=environment(settings),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS))["url"]
    finally:
        process.terminate()
        await process.wait()


class Page:
    """A page that has a flow open."""

    def __init__(self, url: str, flow_id: str) -> None:
        self._address = f"{url}/api/v1/flows/{flow_id}/events"
        self._told: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    async def next(self) -> tuple[str, Any]:
        """Kind and data of the next event."""
        return await asyncio.wait_for(self._told.get(), PATIENCE_SECONDS)

    async def close(self) -> None:
        """Close it."""
        self._reading.cancel()
        await asyncio.wait([self._reading])

    async def _read(self) -> None:
        async with httpx2.AsyncClient(timeout=60) as http, http.stream("GET", self._address) as answer:
            kind = ""
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind not in {"present", "left"}:
                    self._told.put_nowait((kind, json.loads(value)))


@pytest.mark.parametrize("mode", REVISIONS)
class TestProgram:
    async def test_serves_the_client_that_started_it(self, one_database: Settings, mode: Mode) -> None:
        async with program(one_database, mode) as client:
            assert client.protocol_version == REVISIONS[mode]
            flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
            ran = await done(client, "run_flow", flow_id=flow_id, input_value="hej")
            assert ran["outputs"] == {"said": "hej"}
            assert "remedy" in await refused(client, "get_component", component_type="Urls")
            assert (await client.list_resources()).resources[0].title == "Talk"


class TestServer:
    async def test_shows_an_open_page_and_a_second_client_what_a_client_does(self, one_database: Settings) -> None:
        async with server(one_database) as url, connected(url) as one, connected(url, "legacy") as other:
            flow_id = (await done(one, "create_flow_from_spec", spec=FLOW))["flow_id"]
            page = Page(url, flow_id)
            assert (await page.next())[1]["revision"] == 1
            added = await done(one, "add_component", flow_id=flow_id, component_type="ChatOutput", node_id="more")
            kind, told = await page.next()
            assert (kind, told["revision"], told["changes"]) == (
                "draft_saved",
                added["revision"],
                ["+ node 'more' (ChatOutput)"],
            )
            assert "more:" in (await done(other, "get_flow", flow_id=flow_id))["spec"]
            await done(other, "remove_component", flow_id=flow_id, node_id="more")
            assert (await page.next())[1]["changes"] == ["- node 'more' (ChatOutput)"]
            run_id = (await done(other, "run_flow", flow_id=flow_id, input_value="hej"))["run_id"]
            kind, told = await page.next()
            assert (kind, told["run_id"]) == ("run_started", run_id)
            async with program(one_database) as outside:
                await done(outside, "add_component", flow_id=flow_id, component_type="ChatOutput", node_id="late")
            kind, told = await page.next()
            assert (kind, told["revision"]) == ("flow_state", 4), "a process without the server's bus is heard too"
            await done(one, "delete_flow", flow_id=flow_id)
            assert (await page.next())[0] == "deleted"
            await page.close()

    async def test_ends_the_run_of_a_client_that_gives_up(self, one_database: Settings, tmp_path: Path) -> None:
        spec = WAITS.format(folder=tmp_path)
        async with server(one_database) as url, connected(url) as one, connected(url) as other:
            flow_id = (await done(one, "create_flow_from_spec", spec=spec))["flow_id"]
            waiting = asyncio.create_task(one.call_tool("run_flow", {"flow_id": flow_id, "input_value": "hej"}))
            await _until((tmp_path / "gate.started").exists)
            run_id = (await done(other, "list_runs", flow_id=flow_id))["runs"][0]["run_id"]
            waiting.cancel()
            await asyncio.wait([waiting])
            for _ in range(200):
                if (await done(other, "read_run", run_id=run_id))["status"] == "cancelled":
                    break
                await asyncio.sleep(0.05)
            assert (await done(other, "read_run", run_id=run_id))["status"] == "cancelled"

    async def test_ends_a_run_when_asked(self, one_database: Settings, tmp_path: Path) -> None:
        spec = WAITS.format(folder=tmp_path)
        async with server(one_database) as url, connected(url, "legacy") as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=spec))["flow_id"]
            run_id = (await done(client, "run_flow", flow_id=flow_id, input_value="hej", wait=False))["run_id"]
            await _until((tmp_path / "gate.started").exists)
            assert await done(client, "cancel_run", run_id=run_id) == {
                "run_id": run_id,
                "status": "cancelled",
                "changed": True,
            }


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not true():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.02)
