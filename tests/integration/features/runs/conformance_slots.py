"""What every execution backend must do with runs and steps that wait for a slot: see `conformance`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate.features.access.principal import LOCAL
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.queue.schemas import QueueOut
from headgate.features.runs.queue.service import read_queue, set_priority
from headgate.features.runs.quotas.service import Quotas
from headgate.foundation.database import Database
from headgate.foundation.settings import QuotaSettings
from headgate.graph.model import Concurrency, Flow, FlowSettings, StepPolicy
from tests.integration.features.runs.conformance import over, until
from tests.integration.features.runs.conformance_subflows import calling, published
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.rows import attempts, run_row, step_rows


def gated(folder: Path, *, policy: StepPolicy | None = None, **settings: Any) -> Flow:
    """A step that waits for a file."""
    flow = make_flow({"gate": "Gate"}, gate={"folder": str(folder)})
    node = flow.nodes[0].model_copy(update={"policy": policy or StepPolicy()})
    return flow.model_copy(update={"nodes": (node,), "settings": FlowSettings(**settings)})


async def in_status(database: Database, requests: Sequence[RunRequest], status: str) -> list[int]:
    """Return the places of the runs in a status."""
    rows = [await run_row(database, request.key.run_id) for request in requests]
    return [place for place, row in enumerate(rows) if row.status == status]


async def until_running(
    database: Database, requests: Sequence[RunRequest], running: list[int], *, waiting: int
) -> None:
    """Wait until these runs run, and so many wait. Nothing else changes it then: their gate is closed."""

    async def as_expected() -> bool:
        waits = len(await in_status(database, requests, "waiting"))
        return waits == waiting and await in_status(database, requests, "running") == running

    await until(as_expected)


async def settled(database: Database, requests: Sequence[RunRequest], *, running: int, waiting: int) -> list[int]:
    """Wait until so many runs run and wait. Returns the places of those that run."""

    async def as_counted() -> bool:
        counts = [len(await in_status(database, requests, status)) for status in ("running", "waiting")]
        return counts == [running, waiting]

    await until(as_counted)
    return await in_status(database, requests, "running")


async def read_own(database: Database) -> QueueOut:
    """The queue of the only tenant."""
    async with database.reading() as session:
        return await read_queue(session, LOCAL, backend="embedded", quotas=Quotas(database, QuotaSettings()))


class SlotConformance:
    """A run or step that waits for a slot holds nothing, and gets it once one is free."""

    async def test_as_many_runs_of_a_flow_as_it_allows_run_at_the_same_time(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, gated(tmp_path, max_concurrent_runs=2))
        requests = [new_run(version) for _ in range(5)]
        await asyncio.gather(*(engine.start(request) for request in requests))
        first = await settled(database, requests, running=2, waiting=3)
        waiting = next(place for place in range(5) if place not in first)
        row = (await step_rows(database, requests[waiting].key.run_id))["gate"]
        assert (row.status, row.waits_for, row.worker_id) == ("waiting", "slot", None)
        (tmp_path / "gate.open").touch()
        for request in requests:
            await over(engine, request.key.run_id)
        assert await in_status(database, requests, "completed") == [0, 1, 2, 3, 4]

    async def test_the_highest_priority_is_next(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, gated(tmp_path, max_concurrent_runs=1))
        requests = [new_run(version, priority=priority) for priority in (0, 0, 5)]
        for number, request in enumerate(requests):
            await engine.start(request)
            await settled(database, requests[: number + 1], running=1, waiting=number)
        await engine.cancel(requests[0].key.run_id, requests[0].key.tenant_id)
        await until_running(database, requests, [2], waiting=1)
        for request in requests[1:]:
            await engine.cancel(request.key.run_id, request.key.tenant_id)

    async def test_the_queue_shows_who_waits_and_a_new_priority_is_the_place_in_it(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, gated(tmp_path, max_concurrent_runs=1))
        requests = [new_run(version) for _ in range(4)]
        ids = [request.key.run_id for request in requests]
        for number, request in enumerate(requests):
            await engine.start(request)
            await settled(database, requests[: number + 1], running=1, waiting=number)
        await engine.pause(requests[1].key)
        queue = await read_own(database)
        assert (queue.waiting, queue.running, queue.paused) == (2, 1, 1)
        name = f"flow:{version.flow_id}"
        shown = [(run.id, run.reason, run.limit, run.position) for run in queue.runs]
        assert shown == [(ids[2], "limit", name, 1), (ids[3], "limit", name, 2), (ids[1], "paused", None, None)]
        (limit,) = queue.limits
        assert (limit.name, limit.kind, limit.most, limit.used, limit.waiting) == (name, "flow", 1, 1, 3)
        async with database.writing() as session:
            await set_priority(session, LOCAL, ids[3], 7)
        queue = await read_own(database)
        assert [(run.id, run.position, run.priority) for run in queue.runs[:2]] == [(ids[3], 1, 7), (ids[2], 2, 0)]
        await engine.cancel(ids[0], version.tenant_id)
        await until_running(database, requests, [3], waiting=1)
        for run_id in ids[1:]:
            await engine.cancel(run_id, version.tenant_id)
        assert (await read_own(database)).groups == []

    async def test_a_cancelled_waiter_leaves_the_queue(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, gated(tmp_path, max_concurrent_runs=1))
        requests = [new_run(version) for _ in range(3)]
        for number, request in enumerate(requests):
            await engine.start(request)
            await settled(database, requests[: number + 1], running=1, waiting=number)
        await engine.cancel(requests[1].key.run_id, requests[1].key.tenant_id)
        await engine.cancel(requests[0].key.run_id, requests[0].key.tenant_id)
        await until_running(database, requests, [2], waiting=0)
        await engine.cancel(requests[2].key.run_id, requests[2].key.tenant_id)

    async def test_a_run_that_waits_for_a_time_frees_its_slot_and_its_wait_is_not_repeated(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"s": "Start", "wait": "Wait", "gate": "Gate"},
            ["s.text -> wait.value", "wait.value -> gate.input"],
            wait={"seconds": 3},
            gate={"folder": str(tmp_path)},
        ).model_copy(update={"settings": FlowSettings(max_concurrent_runs=1)})
        requests = [new_run(await store_flow(database, flow)) for _ in range(2)]
        requests[1] = new_run(requests[0].key)
        for request in requests:
            await engine.start(request)

        async def one_runs_and_one_waits_for_its_slot() -> bool:
            steps = [(await step_rows(database, request.key.run_id)) for request in requests]
            gates = sorted(rows["gate"].status for rows in steps)
            waits = [rows["wait"].waits_for for rows in steps if rows["wait"].status == "waiting"]
            return gates == ["pending", "running"] and waits == ["slot"]

        await until(one_runs_and_one_waits_for_its_slot)
        (tmp_path / "gate.open").touch()
        for request in requests:
            await over(engine, request.key.run_id)
        for request in requests:
            tried = [entry for entry in await attempts(database, request.key.run_id) if entry[0] == "wait"]
            assert tried[-1][2] == "completed"
        assert await in_status(database, requests, "completed") == [0, 1]

    async def test_steps_with_the_same_key_share_its_limit(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        policy = StepPolicy(concurrency=Concurrency(key="erp", max=1))
        versions = [await store_flow(database, gated(tmp_path, policy=policy)) for _ in range(2)]
        requests = [new_run(version) for version in versions]
        for request in requests:
            await engine.start(request)
        await settled(database, requests, running=1, waiting=1)
        (tmp_path / "gate.open").touch()
        for request in requests:
            await over(engine, request.key.run_id)
        assert await in_status(database, requests, "completed") == [0, 1]

    async def test_steps_that_use_a_connection_share_its_limit_by_priority(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        gates = {"gate": "GateOnConnection"}
        flows = [
            make_flow(gates, gate={"folder": str(tmp_path), "connection": name})
            for name in ("crm", "crm", "crm", "mail")
        ]
        versions = [await store_flow(database, flow) for flow in flows]
        requests = [new_run(version, priority=place) for place, version in enumerate(versions)]
        for number, request in enumerate(requests[:3]):
            await engine.start(request)
            await settled(database, requests[: number + 1], running=1, waiting=number)
        await engine.start(requests[3])
        await until_running(database, requests, [0, 3], waiting=2)
        row = (await step_rows(database, requests[1].key.run_id))["gate"]
        assert (row.status, row.waits_for, row.worker_id) == ("waiting", "slot", None)
        await engine.cancel(requests[0].key.run_id, requests[0].key.tenant_id)
        await until_running(database, requests, [2, 3], waiting=1)
        (tmp_path / "gate.open").touch()
        for request in requests[1:]:
            await over(engine, request.key.run_id)
        assert await in_status(database, requests, "completed") == [1, 2, 3]
        log = (await step_rows(database, requests[1].key.run_id))["gate"].log
        assert [line["message"] for line in log] == ["Steps that use the connection crm at the same time: 1 at most."]
        assert log[0]["details"] == {"limit": 1, "connection": "crm"}

    async def test_a_sub_flow_of_the_same_flow_needs_no_second_slot(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        child = await published(database, make_flow({"s": "Start"}))
        flow = calling("RunFlow", "text", child).model_copy(update={"settings": FlowSettings(max_concurrent_runs=1)})
        outer = await published(database, flow)
        top = calling("RunFlow", "text", outer).model_copy(update={"settings": FlowSettings(max_concurrent_runs=1)})
        requests = [new_run(await store_flow(database, top), "hi") for _ in range(2)]
        for request in requests:
            await engine.start(request)
        for request in requests:
            await over(engine, request.key.run_id)
        assert await in_status(database, requests, "completed") == [0, 1]
