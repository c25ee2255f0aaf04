"""The real application over ASGI, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import Settings

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


async def created(client: httpx2.AsyncClient, spec: str = ECHO) -> dict[str, Any]:
    """A new flow from spec text."""
    answer = await client.post("/api/v1/flows", json={"spec": spec})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found
