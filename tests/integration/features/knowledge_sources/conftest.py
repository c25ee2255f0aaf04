"""A running app with a knowledge base, and sources of it on real servers."""

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.foundation.settings import ConnectionSettings, HttpSettings, RateLimitSettings, Settings
from headgate.foundation.settings.connections import FolderSettings
from tests.integration.features.knowledge.conftest import API, Knowledge
from tests.integration.http.conftest import client
from tests.support.web_server import WebServer, web_server

__all__ = ["client"]


@pytest.fixture
def app_settings(settings: Settings, tmp_path: Path) -> Settings:
    folders = {"reports": FolderSettings(path=f"{tmp_path}/opened/{{tenant_id}}")}
    update = {
        "http": HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")]),
        "connections": ConnectionSettings(folders=folders),
        "rate_limits": RateLimitSettings(enabled=False),
    }
    return settings.model_copy(update=update)


@pytest.fixture
async def app(app_settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(app_settings)
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        yield server


class Sources(Knowledge):
    """The API of knowledge and of its sources, with one base."""

    base_id: str = ""

    async def source(self, config: dict[str, Any], name: str = "Site", **more: Any) -> dict[str, Any]:
        """Add a source, and return it after its first synchronisation."""
        body = {"name": name, "config": config, **more}
        made = await self.client.post(f"{API}/{self.base_id}/sources", json=body)
        assert made.status_code == 201, made.text
        return await self.ended(made.json()["id"])

    async def sync(self, source: dict[str, Any]) -> dict[str, Any]:
        """Synchronise a source, and return it afterwards."""
        asked = await self.client.post(f"{API}/{self.base_id}/sources/{source['id']}/sync")
        assert asked.status_code == 202, asked.text
        return await self.ended(source["id"])

    async def ended(self, source_id: str) -> dict[str, Any]:
        """Wait until a source is synchronised and its documents are indexed."""
        for _ in range(600):
            source = (await self.client.get(f"{API}/{self.base_id}/sources/{source_id}")).json()
            base = (await self.client.get(f"{API}/{self.base_id}")).json()
            if source["status"] in {"ready", "failed"} and not base["waiting"]:
                return dict((await self.client.get(f"{API}/{self.base_id}/sources/{source_id}")).json())
            await asyncio.sleep(0.05)
        raise AssertionError(f"not synchronised: {source}")

    async def names(self) -> list[str]:
        """Names of the documents of the base."""
        return sorted(document["name"] for document in await self.documents())

    async def documents(self) -> list[dict[str, Any]]:
        """The documents of the base."""
        answer = await self.client.get(f"{API}/{self.base_id}/documents", params={"limit": 200})
        return list(answer.json()["items"])

    async def problems(self, source: dict[str, Any]) -> dict[str, list[str]]:
        """Reasons by key of what was not understood."""
        answer = await self.client.get(f"{API}/{self.base_id}/sources/{source['id']}/problems")
        assert answer.status_code == 200, answer.text
        return {item["key"]: item["reasons"] for item in answer.json()}

    async def connect(self, name: str, kind: str, fields: dict[str, Any], **secrets: str) -> None:
        """Add a connection."""
        body = {"name": name, "kind": kind, "fields": fields, "secrets": secrets}
        made = await self.client.post("/api/v1/connections", json=body)
        assert made.status_code == 201, made.text


@pytest.fixture
async def sources(client: httpx2.AsyncClient) -> Sources:
    made = Sources(client)
    made.base_id = await made.base()
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that the operator opened as `reports`."""
    path = tmp_path / "opened" / DEFAULT_TENANT_ID
    path.mkdir(parents=True)
    return path


def report(source: dict[str, Any], *names: str) -> list[int]:
    """Counts of the report of the last synchronisation."""
    return [source["report"][name] for name in names]
