"""The real application on both databases, and a scripted API on loopback."""

from collections.abc import AsyncIterator
from ipaddress import IPv4Network

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import HttpSettings, Settings
from tests.support.web_server import WebServer, web_server

LOOPBACK = HttpSettings(allowed_internal_cidrs=[IPv4Network("127.0.0.0/8")])


@pytest.fixture
async def api() -> AsyncIterator[WebServer]:
    """An API."""
    async with web_server() as server:
        yield server


@pytest.fixture
async def other() -> AsyncIterator[WebServer]:
    """A server that no connection names."""
    async with web_server() as server:
        yield server


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(settings.model_copy(update={"http": LOOPBACK}))
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1") as session:
        yield session
