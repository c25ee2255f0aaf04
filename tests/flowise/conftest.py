"""One real Flowise for all tests here, a key on it, and a model server that it can reach."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from pydantic import SecretStr

from headgate.agents.codev.domains.flowise.client import FlowiseClient, Server
from headgate.foundation.settings import HttpSettings
from tests.flowise.server.account import make_key
from tests.flowise.server.process import FlowiseProcess, Installed
from tests.support.direct import DIRECT
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Script


@pytest.fixture(scope="session")
def flowise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowiseProcess]:
    """A Flowise that has just been made."""
    port = int(os.environ.get("FLOWISE_PORT", "0"))
    with FlowiseProcess(Installed.found(), tmp_path_factory.mktemp("flowise") / "server", port) as server:
        yield server


@pytest.fixture(scope="session")
def key(flowise: FlowiseProcess) -> str:
    """A key on it."""
    return make_key(flowise.origin)


@pytest.fixture(scope="session")
def wire(flowise: FlowiseProcess, key: str) -> Iterator[httpx2.Client]:
    """Its API as it is, beside Headgate's client."""
    headers = {"authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=flowise.origin, headers=headers, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def place(flowise: FlowiseProcess, key: str) -> Server:
    """The server as Headgate knows it."""
    return Server("real", flowise.origin, SecretStr(key), vouched=True)


@pytest.fixture
async def client(place: Server) -> AsyncIterator[FlowiseClient]:
    """Headgate's client of it."""
    async with opened(place) as made:
        yield made


@asynccontextmanager
async def opened(place: Server) -> AsyncIterator[FlowiseClient]:
    """A client that is closed at the end."""
    made = FlowiseClient(place, HttpSettings(), DIRECT, 60)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def echo() -> Iterator[OpenAIServer]:
    """A model that answers `echo: ` and the last message."""
    with OpenAIServer() as server:

        def script(asked: Asked) -> Script | None:
            if not asked.path.endswith("/chat/completions"):
                return None
            return server.text(f"echo: {asked.body['messages'][-1]['content']}")

        server.sort = script
        yield server
