"""The real application over ASGI, on both databases."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import ServerSettings, Settings

ECHO = """name: Echo
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.text -> said.input
"""


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as found:
        yield found


@asynccontextmanager
async def serving(
    settings: Settings, *, base_url: str = "http://127.0.0.1:7411", address: str = "127.0.0.1", **server: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client at `address` of the application with other settings of its server."""
    changed = settings.model_copy(update={"server": ServerSettings(**server)})
    made = create_app(changed)
    async with made.router.lifespan_context(made):
        transport = httpx2.ASGITransport(app=made, raise_app_exceptions=False, client=(address, 50_000))
        async with httpx2.AsyncClient(transport=transport, base_url=base_url) as found:
            yield found


async def created(client: httpx2.AsyncClient, spec: str = ECHO) -> dict[str, Any]:
    """A new flow from spec text."""
    answer = await client.post("/api/v1/flows", json={"spec": spec})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found
