from collections.abc import AsyncIterator, Callable
from ipaddress import ip_network
from typing import Any

import pytest

from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import HttpSettings
from tests.support.direct import DIRECT
from tests.support.web_server import WebServer, web_server

MakeClient = Callable[..., GuardedHttp]


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        yield found


@pytest.fixture
async def other_server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        yield found


@pytest.fixture
def slept() -> list[float]:
    """The pauses that were made, in seconds."""
    return []


@pytest.fixture
async def make_client(slept: list[float]) -> AsyncIterator[MakeClient]:
    """Clients that may reach 127.0.0.0/8 and note their pauses instead of making them."""
    made: list[GuardedHttp] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    def make(*, open_to: str = "127.0.0.0/8", client: dict[str, Any] | None = None, **settings: Any) -> GuardedHttp:
        limits = HttpSettings(allowed_internal_cidrs=[ip_network(open_to)] if open_to else [], **settings)
        made.append(GuardedHttp(limits, DIRECT, **{"sleep": sleep, **(client or {})}))
        return made[-1]

    yield make
    for found in made:
        await found.close()


@pytest.fixture
def client(make_client: MakeClient) -> GuardedHttp:
    return make_client()
