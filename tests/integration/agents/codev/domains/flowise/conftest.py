"""A client and a workplace on a local server that speaks as Flowise was recorded."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from headgate.agents.codev.domains.flowise.client import FlowiseClient, Server
from headgate.agents.codev.domains.flowise.domain import FlowiseDomain
from headgate.agents.codev.domains.flowise.workplace import FlowiseWorkplace
from headgate.agents.codev.instances.service import Instance
from headgate.features.access.principal import LOCAL, Principal
from headgate.foundation.settings import CodevSettings, HttpSettings, Settings
from tests.support.direct import DIRECT
from tests.support.flowise_server import KEY, FlowiseServer, flowise_server

SECONDS = 30.0
"""Enough for any answer on a busy machine."""


class OneInstance:
    """Only this server."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    async def find(self, _principal: Principal, _instance_id: str) -> Instance:
        return Instance("dev", self._endpoint, SecretStr(KEY), vouched=True)


@pytest.fixture
async def server() -> AsyncIterator[FlowiseServer]:
    async with flowise_server() as found:
        yield found


@pytest.fixture
async def client(server: FlowiseServer) -> AsyncIterator[FlowiseClient]:
    made = FlowiseClient(Server("dev", server.endpoint, SecretStr(KEY), vouched=True), HttpSettings(), DIRECT, SECONDS)
    yield made
    await made.close()


@pytest.fixture
async def hurried(server: FlowiseServer) -> AsyncIterator[FlowiseClient]:
    """One that waits for a second at most."""
    made = FlowiseClient(Server("dev", server.endpoint, SecretStr(KEY), vouched=True), HttpSettings(), DIRECT, 1.0)
    yield made
    await made.close()


def _domain(server: FlowiseServer, folder: Path, seconds: float) -> FlowiseDomain:
    codev = CodevSettings(flowise_timeout_seconds=seconds)
    return FlowiseDomain(Settings(data_dir=folder, codev=codev), OneInstance(server.endpoint))


async def _place(domain: FlowiseDomain) -> AsyncIterator[FlowiseWorkplace]:
    made = await domain.open(LOCAL, LOCAL.space_id, "dev")
    assert isinstance(made, FlowiseWorkplace)
    yield made
    await made.close()


@pytest.fixture
def domain(server: FlowiseServer, tmp_path: Path) -> FlowiseDomain:
    return _domain(server, tmp_path, SECONDS)


@pytest.fixture
async def place(domain: FlowiseDomain) -> AsyncIterator[FlowiseWorkplace]:
    async for made in _place(domain):
        yield made


@pytest.fixture
async def hurried_place(server: FlowiseServer, tmp_path: Path) -> AsyncIterator[FlowiseWorkplace]:
    """One whose server has a second to answer."""
    async for made in _place(_domain(server, tmp_path, 1.0)):
        yield made
