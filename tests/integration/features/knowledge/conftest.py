"""A running app, and knowledge bases with documents in it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import Settings
from tests.integration.http.conftest import client

__all__ = ["client"]

API = "/api/v1/knowledge-bases"
HANDBOOK = """# Handbook

## Leave

Employees have 27 days of holiday each year. Days that are not used expire in March.

## Travel

Trains are preferred. The daily allowance in Lisbon is 68 EUR, and 74 EUR in Oslo.
"""


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        yield made


class Knowledge:
    """The API of knowledge, as one caller uses it."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def base(self, name: str = "Handbooks", **more: Any) -> str:
        made = await self.client.post(API, json={"name": name, **more})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    async def upload(self, name: str, content: bytes | str) -> str:
        data = content.encode() if isinstance(content, str) else content
        made = await self.client.post("/api/v1/files", files={"file": (name, data)})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    async def add(self, base: str, name: str, content: bytes | str, **more: Any) -> dict[str, Any]:
        file_id = await self.upload(name, content)
        made = await self.client.post(f"{API}/{base}/documents", json={"file_id": file_id, **more})
        assert made.status_code == 201, made.text
        return await self.settled(base, made.json()["id"])

    async def settled(self, base: str, document: str) -> dict[str, Any]:
        for _ in range(600):
            read = await self.client.get(f"{API}/{base}/documents/{document}")
            assert read.status_code == 200, read.text
            found: dict[str, Any] = read.json()
            if found["status"] in {"ready", "failed"}:
                return found
            await asyncio.sleep(0.05)
        raise AssertionError(f"not indexed: {found}")

    async def search(self, base: str, query: str, **more: Any) -> list[dict[str, Any]]:
        answer = await self.client.post(f"{API}/{base}/search", json={"query": query, **more})
        assert answer.status_code == 200, answer.text
        hits: list[dict[str, Any]] = answer.json()["hits"]
        return hits

    async def passages(self, base: str, document: str) -> list[dict[str, Any]]:
        answer = await self.client.get(f"{API}/{base}/documents/{document}/passages", params={"limit": 200})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found


KnowledgeOf = Callable[[httpx2.AsyncClient], Knowledge]


@pytest.fixture
def knowledge(client: httpx2.AsyncClient) -> Knowledge:
    return Knowledge(client)
