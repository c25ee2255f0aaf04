"""An engine whose deliveries go over a real wire to a receiver on this machine."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.runs.deliveries import service
from headgate.features.runs.deliveries.attempt import Sender
from headgate.features.runs.deliveries.courier import Courier
from headgate.features.runs.deliveries.schemas import DeliveryOut
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import EngineSettings, HttpSettings, Settings
from headgate.graph.model import Flow, HttpCall, Node, StepPolicy
from tests.support.engine import DictSecrets, make_flow, make_services, new_run, on_disk, store_flow
from tests.support.web_server import WebServer, web_server


@dataclass
class Desk:
    """An engine, its courier, and what both stand on."""

    database: Database
    engine: ExecutionBackend
    courier: Courier
    secrets: DictSecrets
    server: WebServer
    slept: list[float] = field(default_factory=list)

    async def run(self, flow: Flow, text: str = "hello") -> str:
        """Run a flow to its end and wait for its deliveries. The run's id."""
        request = new_run(await store_flow(self.database, flow), text)
        await self.engine.start(request)
        await self.engine.wait(request.key.run_id)
        await self.courier.settle()
        return request.key.run_id

    async def deliveries(self, run_id: str) -> list[DeliveryOut]:
        async with self.database.reading() as session:
            return await service.list_deliveries(session, LOCAL, run_id)

    async def status(self, run_id: str) -> str:
        return str(await self.engine.store.status(run_id))


MakeDesk = Callable[..., Awaitable[Desk]]


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        yield found


@pytest.fixture
async def make_desk(database: Database, settings: Settings, server: WebServer) -> AsyncIterator[MakeDesk]:
    """Desks on one database; `open_to` is the network that may be reached, other arguments go to the courier."""
    made: list[tuple[ExecutionBackend, Courier, GuardedHttp]] = []

    async def make(*, open_to: str = "127.0.0.0/8", engine: dict[str, Any] | None = None, **courier: Any) -> Desk:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        limits = HttpSettings(allowed_internal_cidrs=[ip_network(open_to)] if open_to else [])
        http, secrets = GuardedHttp(limits), DictSecrets()
        services = make_services(database, engine=EngineSettings(**(engine or {})), files=on_disk(database, settings))
        sender = Sender(http, secrets, services.files)
        found = Courier(database, SecretBox(settings), sender, services.bus, **{"sleep": sleep, **courier})
        backend = build_engine(settings, database, replace(services, deliveries=found, secrets=secrets))
        await backend.open()
        made.append((backend, found, http))
        return Desk(database, backend, found, secrets, server, slept)

    yield make
    for backend, courier, http in made:
        await backend.close()
        await courier.close()
        await http.close()


@pytest.fixture
async def desk(make_desk: MakeDesk) -> Desk:
    return await make_desk()


def delivering(url: str, *, type_: str = "Echo", after: bool = False, **call: Any) -> Flow:
    """`start -> send`, where `send` delivers its output; with `after`, one more step behind it."""
    params = call.pop("params", {})
    output = call.pop("output", "text")
    more = {key: call.pop(key) for key in ("output_type",) if key in call}
    policy = StepPolicy(output_mode="http_post", output_config=HttpCall(url=url, **call), **more)
    nodes: dict[str, str | Node] = {"start": "Start", "send": Node(id="send", type=type_, params=params, policy=policy)}
    edges = ["start.text -> send.input"]
    if after:
        nodes["last"] = "Echo"
        edges.append(f"send.{output} -> last.input")
    return make_flow(nodes, edges)
