"""Processes killed, or stopped past their leases, under runs in waits, loops, approvals and sub-flows."""

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.audit import audit, quiet
from tests.integration.faults.cluster import CHILDREN, Cluster
from tests.integration.faults.durable import (
    LEASE_SECONDS,
    approving,
    at_some_moment,
    check_witness,
    make_durable_flow,
    stopped_past_its_lease,
    under_a_step,
)
from tests.integration.faults.installation import QUIET_SECONDS, SCALE, Installation
from tests.support.databases import Postgres, SqliteFiles, make_settings

Record = Callable[[str, object], None]
pytestmark = [pytest.mark.campaign, pytest.mark.timeout(180 + QUIET_SECONDS * 2)]
RUNS_AT_A_TIME = 3


async def settled(installation: Installation, database: Database, runs: int) -> str:
    """Wait for quiet, then check everything. Returns the figures."""
    await quiet(database, QUIET_SECONDS)
    counts = await audit(
        database, installation.counter, deaths=installation.deaths, acknowledged=installation.acknowledged
    )
    assert counts.completed == counts.runs, counts.reasons
    assert counts.interrupted, "no process died under a step"
    zombies = sum(death.returned for death in installation.deaths)
    return f"{counts}, {zombies} zombies; {check_witness(installation, runs)}"


class TestServers:
    @pytest.fixture
    def settings(self, tmp_path: Path, sqlite_files: SqliteFiles) -> Settings:
        """The embedded engine on SQLite."""
        sqlite_files.fresh(tmp_path)
        return make_settings(tmp_path)

    async def test_killed_or_stopped_lose_no_run_and_repeat_no_finished_iteration(
        self, installation: Installation, database: Database, record_property: Record
    ) -> None:
        lease = {"HEADGATE_ENGINE__LEASE_SECONDS": str(LEASE_SECONDS)}
        servers = [await installation.up(**lease), await installation.up(**lease)]
        flow = await make_durable_flow(installation, servers[0])
        async with approving(lambda: servers):
            for _ in range(SCALE):
                await asyncio.gather(*(installation.submit(server, flow, RUNS_AT_A_TIME) for server in servers))
                await at_some_moment(installation)
                mortal = servers.pop(random.randrange(2))
                stopped = asyncio.create_task(stopped_past_its_lease(installation, servers[0]))
                await under_a_step(installation, mortal)
                installation.kill(mortal)
                servers.append(await installation.up(**lease))
                await stopped
            figures = await settled(installation, database, 2 * RUNS_AT_A_TIME * SCALE)
        record_property("figures", f"{figures} (embedded, SQLite)")


@pytest.mark.postgres
class TestWorkers:
    @pytest.fixture
    def settings(self, postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
        """The distributed engine needs PostgreSQL."""
        with postgres.fresh() as url:
            yield make_settings(tmp_path, url)

    async def test_killed_or_stopped_lose_no_run_and_repeat_no_finished_iteration(
        self, cluster: Cluster, database: Database, record_property: Record
    ) -> None:
        cluster.environment = {**cluster.environment, "HEADGATE_ENGINE__LEASE_SECONDS": str(LEASE_SECONDS)}
        server = await cluster.up()
        flow = await make_durable_flow(cluster, server)
        cluster.command("beat")
        workers = [cluster.command("worker", "--concurrency", str(CHILDREN)) for _ in range(2)]
        async with approving(lambda: [server]):
            for _ in range(SCALE):
                await cluster.staffed(workers)
                await cluster.submit(server, flow, 2 * RUNS_AT_A_TIME)
                await at_some_moment(cluster)
                mortal = workers.pop(random.randrange(2))
                stopped = asyncio.create_task(stopped_past_its_lease(cluster, workers[0]))
                await under_a_step(cluster, mortal)
                cluster.deaths.append(mortal.kill())
                workers.append(cluster.command("worker", "--concurrency", str(CHILDREN)))
                await stopped
            figures = await settled(cluster, database, 2 * RUNS_AT_A_TIME * SCALE)
        record_property("figures", f"{figures} (Celery, PostgreSQL, Redis)")
