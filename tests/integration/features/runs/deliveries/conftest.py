"""An engine whose deliveries go over a real wire to a receiver on this machine."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import or_, select

from headgate.features.access.principal import LOCAL
from headgate.features.jobs.leases import Leases, clock
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.runs.deliveries import service
from headgate.features.runs.deliveries.attempt import Sender
from headgate.features.runs.deliveries.delivery_sender import DeliverySender
from headgate.features.runs.deliveries.schemas import DeliveryOut
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import EngineSettings, HttpSettings, Settings
from headgate.graph.model import Flow, HttpCall, Node, StepPolicy
from tests.support.direct import DIRECT
from tests.support.engine import DictSecrets, make_flow, make_services, new_run, on_disk, store_flow
from tests.support.patience import PATIENCE_SECONDS
from tests.support.web_server import WebServer, web_server


@dataclass
class Desk:
    """An engine, its delivery_sender, and what both stand on."""

    database: Database
    engine: ExecutionBackend
    delivery_sender: DeliverySender
    jobs: JobRunner
    secrets: DictSecrets
    server: WebServer
    folder: Path
    slept: list[float] = field(default_factory=list)

    async def run(self, flow: Flow, text: str = "hello") -> str:
        """Run a flow to its end and wait for its deliveries. The run's id."""
        run_id = await self.run_only(flow, text)
        await self.delivery_sender.settle()
        return run_id

    async def run_only(self, flow: Flow, text: str = "hello") -> str:
        """Run a flow to its end. The run's id."""
        request = new_run(await store_flow(self.database, flow), text)
        await self.engine.start(request)
        await self.engine.wait(request.key.run_id)
        return request.key.run_id

    async def deliver_due(self, processes: int = 1) -> None:
        """Have other processes make every delivery that is due."""
        runners = [self.other_process() for _ in range(processes)]
        for runner in runners:
            runner.open()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await self._busy():  # noqa: ASYNC110 - the rows are written by other processes
                await asyncio.sleep(0.01)
        for runner in runners:
            await runner.close()

    def other_process(self) -> JobRunner:
        """The jobs of another process on the same data folder, which makes deliveries of anybody once it is open."""
        jobs = JobRunner(self.database, Leases(Worker(self.folder), 0.3), poll_seconds=0.02)
        DeliverySender(
            self.database, self.delivery_sender._box, self.delivery_sender._sender, self.engine.services.bus, jobs,
            sleep=self.delivery_sender._sleep,
        )  # fmt: skip
        return jobs

    async def _busy(self) -> bool:
        due = or_(webhook_deliveries.c.due_at <= clock(), webhook_deliveries.c.worker_id.is_not(None))
        async with self.database.reading() as session:
            return (await session.execute(select(webhook_deliveries.c.id).where(due))).first() is not None

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
    """Desks on one database; `open_to` is the reachable network, other arguments go to the delivery sender."""
    made: list[tuple[ExecutionBackend, JobRunner, GuardedHttp]] = []

    async def make(
        *, open_to: str = "127.0.0.0/8", engine: dict[str, Any] | None = None, **delivery_sender: Any
    ) -> Desk:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        limits = HttpSettings(allowed_internal_cidrs=[ip_network(open_to)] if open_to else [])
        http, secrets = GuardedHttp(limits, DIRECT), DictSecrets()
        services = make_services(database, engine=EngineSettings(**(engine or {})), files=on_disk(database, settings))
        sender = Sender(http, secrets, services.files)
        folder = settings.data_dir / "workers"
        jobs = JobRunner(database, Leases(Worker(folder), 30.0), scans=False)
        deliveries = DeliverySender(
            database, SecretBox(new_ring(settings)), sender, services.bus, jobs, **{"sleep": sleep, **delivery_sender}
        )
        backend = build_engine(settings, database, replace(services, deliveries=deliveries, secrets=secrets))
        await backend.open()
        made.append((backend, jobs, http))
        return Desk(database, backend, deliveries, jobs, secrets, server, folder, slept)

    yield make
    for backend, jobs, http in made:
        await backend.close()
        await jobs.close(grace_seconds=0)
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
