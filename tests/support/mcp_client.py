"""The official MCP client against the real application, over a real connection on this machine."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
import uvicorn
from fastapi import FastAPI
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

Mode = Literal["legacy", "auto"]
REVISIONS: dict[Mode, str] = {"legacy": "2025-11-25", "auto": "2026-07-28"}
"""How the client connects, and the revision that both then speak."""
FLOW = "name: Talk\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The address of an application that has been started already."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, lifespan="off", log_level="error", ws="none", timeout_graceful_shutdown=5, timeout_keep_alive=75
        )
        server = uvicorn.Server(config)
        listening.listen()  # whoever connects before the server has started waits
        work = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await work


@asynccontextmanager
async def connected(
    url: str, mode: Mode = "auto", headers: dict[str, str] | None = None, path: str = "/mcp"
) -> AsyncIterator[Client]:
    """A client of `/mcp`, or another path, at an address."""
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(f"{url}{path}", http_client=http)
        async with Client(transport, mode=mode, cache=None) as client:
            yield client


async def done(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers; it must not refuse."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, text_of(found)
    assert isinstance(found.structured_content, dict)
    return found.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool says when it refuses, which it must; a remedy is part of it."""
    found = await client.call_tool(tool, arguments)
    assert found.is_error, text_of(found)
    assert isinstance(found.structured_content, dict)
    assert found.structured_content["error"] in text_of(found).replace("\n", " ")
    return found.structured_content


def text_of(found: CallToolResult) -> str:
    """The text of an answer."""
    return "\n".join(part.text for part in found.content if isinstance(part, TextContent))
