"""The real application on both databases, a real MCP server process, and a model provider on the wire."""

import sys
from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import HttpSettings, McpSettings, Settings
from tests.support.mcp_server import McpProcess
from tests.support.open_python import ROOT

LOOPBACK = HttpSettings(allowed_internal_cidrs=[IPv4Network("127.0.0.0/8")])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[McpProcess]:
    """A server with tools that do what they say."""
    with McpProcess(tmp_path / "tally") as found:
        yield found


@pytest.fixture
def mcp_settings() -> McpSettings:
    return McpSettings(
        allow_stdio=True, program_folders=[ROOT, Path(sys.prefix)], connect_seconds=15, timeout_seconds=15
    )


@pytest.fixture
async def app(settings: Settings, mcp_settings: McpSettings) -> AsyncIterator[FastAPI]:
    made = create_app(settings.model_copy(update={"http": LOOPBACK, "mcp": mcp_settings}))
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1") as found:
        yield found
