"""A worker of Celery that is drained hands its runs over at the next step, and works again once it may."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from headgate.foundation.database import Database
from tests.integration.faults.cluster import Cluster
from tests.integration.faults.installation import STEPS, Server, counting_flow
from tests.integration.faults.test_cluster_deaths import cluster, settings, settled
from tests.support.patience import PATIENCE_SECONDS

__all__ = ["cluster", "settings"]
pytestmark = pytest.mark.postgres
RUNS = 24
STARTED_BY = (
    "SELECT a.started_at FROM flow_step_attempts a"
    " JOIN processes p ON p.pid = CAST(split_part(a.worker_id, ':', 2) AS INTEGER)"
    " WHERE p.parent_id = :id ORDER BY a.started_at"
)


async def ask(server: Server, method: str, path: str, **more: Any) -> Any:
    """What the server answers an operator."""
    async with httpx2.AsyncClient(base_url=f"{server.url}/api/v1", timeout=PATIENCE_SECONDS) as client:
        answer = await client.request(method, path, **more)
    assert answer.is_success, answer.text
    return answer.json()


async def workers(server: Server) -> list[dict[str, Any]]:
    """The workers, oldest first."""
    processes: list[dict[str, Any]] = (await ask(server, "GET", "/processes"))["items"]
    return [process for process in processes if process["kind"] == "worker"]


async def until_drained(server: Server, process_id: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while {one["id"]: one["state"] for one in await workers(server)}[process_id] != "drained":  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def started_by(database: Database, process_id: str) -> Sequence[int]:
    """When children of a worker started steps."""
    async with database.reading() as session:
        return (await session.execute(text(STARTED_BY), {"id": process_id})).scalars().all()


async def test_a_drained_worker_hands_over_and_no_step_is_lost_or_repeated(
    cluster: Cluster, database: Database
) -> None:
    server = await cluster.up()
    flow = await cluster.make_flow(server, counting_flow(cluster.counter, 0.15))
    cluster.command("beat")
    await cluster.work(server, flow)
    (first,) = await workers(server)
    await cluster.submit(server, flow, RUNS // 2)
    await cluster.busy(3)
    second = cluster.command("worker", "--concurrency", "3")
    await ask(server, "PUT", f"/processes/{first['id']}/drain", json={"hand_over_seconds": 0})
    await until_drained(server, first["id"])
    before = await started_by(database, first["id"])
    assert before
    await cluster.submit(server, flow, RUNS // 2)
    counts = await settled(cluster, database)
    assert counts.completed == counts.runs == RUNS + 1, counts.reasons
    assert (counts.interrupted, counts.repeats) == (0, 0)
    assert await started_by(database, first["id"]) == before, "a drained worker began a step"
    other = next(one["id"] for one in await workers(server) if one["id"] != first["id"])
    assert len(before) + len(await started_by(database, other)) == counts.runs * (1 + len(STEPS))
    second.kill()
    await ask(server, "DELETE", f"/processes/{first['id']}/drain")
    assert (await cluster.run(server, flow, text="after"))["status"] == "completed"
    assert len(await started_by(database, first["id"])) > len(before)
