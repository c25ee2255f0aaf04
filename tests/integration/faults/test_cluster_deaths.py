"""Workers, server, Redis and PostgreSQL killed while runs are under way on workers."""

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate.entrypoints.own_services import OwnRedis
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.audit import Counts, audit, quiet
from tests.integration.faults.cluster import Cluster
from tests.integration.faults.deaths import Death, moment_now
from tests.integration.faults.installation import DEATHS, QUIET_SECONDS, RUNS, SCALE, counting_flow, moment
from tests.support.databases import Postgres, make_settings
from tests.support.headgate_process import SEND_TWICE

Record = Callable[[str, object], None]
pytestmark = [pytest.mark.timeout(180 + QUIET_SECONDS * 2), pytest.mark.postgres]
REDIS_DEATHS = 2 * SCALE
LEAST = {"HEADGATE_LOG__LEVEL": "warning", "HEADGATE_LOG__FORMAT": "json"}


@pytest.fixture
def settings(postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    """The distributed engine needs PostgreSQL."""
    with postgres.fresh() as url:
        yield make_settings(tmp_path, url)


@pytest.fixture(params=[False])
def cluster(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Cluster]:
    """A cluster with nothing started but its Redis; the parameter says whether that keeps its data."""
    redis = OwnRedis(settings.data_dir / "redis", durable=request.param)
    redis.start()
    found = Cluster(settings.data_dir, LEAST | {"HEADGATE_DATABASE__URL": settings.database.url})
    found.join(redis)
    yield found
    found.close()


async def settled(cluster: Cluster, database: Database) -> Counts:
    """Wait for quiet, then check everything."""
    await quiet(database, QUIET_SECONDS)
    return await audit(database, cluster.counter, deaths=cluster.deaths, acknowledged=cluster.acknowledged)


class TestWorkers:
    async def test_killed_at_random_moments_finish_every_step_once(
        self, cluster: Cluster, database: Database, record_property: Record
    ) -> None:
        """Of the deaths every second is that of a whole worker, the others of one child or of the main process."""
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter, 0.02, longest=0.2))
        cluster.command("beat")
        workers = [cluster.command("worker", "--concurrency", "3"), await cluster.work(server, flow)]
        busy = []
        for number in range(DEATHS):
            await cluster.staffed(workers)
            count = RUNS // DEATHS
            batch = asyncio.create_task(cluster.submit(server, flow, count, at_once=count))
            await cluster.busy(random.randint(3, 5))
            busy.append(cluster.in_flight())
            chosen = random.randrange(2)
            if number % 4 == 1:
                cluster.deaths.append(workers[chosen].kill_a_child())
            else:
                mortal = workers.pop(chosen)
                cluster.deaths.append(mortal.kill_main() if number % 4 == 3 else mortal.kill())
                workers.append(cluster.command("worker", "--concurrency", "3"))
            await batch
        counts = await settled(cluster, database)
        record_property("figures", f"{counts} (workers died, with {min(busy)} to {max(busy)} steps in flight)")
        assert counts.completed == counts.runs > RUNS, counts.reasons
        assert counts.interrupted
        assert max(busy) >= 3

    @pytest.mark.campaign
    async def test_whose_child_dies_while_it_starts_start_anew(self, cluster: Cluster) -> None:
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter))
        worker = cluster.command("worker", "--concurrency", "3")
        await cluster.has_a_child(worker)
        worker.kill_a_child()
        await cluster.staffed([worker])
        assert (await cluster.run(server, flow, text="after"))["status"] == "completed"
        assert "worker failed, restarting" in worker.log.read_text()


@pytest.mark.campaign
class TestServer:
    async def test_killed_while_workers_work_loses_no_run(
        self, cluster: Cluster, database: Database, record_property: Record
    ) -> None:
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter))
        cluster.command("beat")
        await cluster.work(server, flow)
        for _ in range(2 * SCALE):
            batch = asyncio.create_task(cluster.submit(server, flow, 20))
            await cluster.taken(moment(1, 20))
            cluster.kill(server)
            await batch
            server = await cluster.up()
        counts = await settled(cluster, database)
        record_property("figures", f"{counts} (the server died)")
        assert counts.completed == counts.runs, counts.reasons
        assert counts.repeats == 0


@pytest.mark.campaign
class TestRedis:
    @pytest.mark.parametrize("cluster", [True, False], indirect=True, ids=["with its data", "without its data"])
    async def test_killed_and_restarted_loses_no_run(
        self, cluster: Cluster, database: Database, record_property: Record, request: pytest.FixtureRequest
    ) -> None:
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter))
        cluster.command("beat")
        await cluster.work(server, flow)
        for _ in range(REDIS_DEATHS):
            batch = asyncio.create_task(cluster.submit(server, flow, 20))
            await cluster.taken(moment(1, 18))
            assert cluster.redis.process is not None
            cluster.redis.process.kill()
            cluster.redis.process.wait()
            await asyncio.sleep(moment(0, 1))
            await asyncio.to_thread(cluster.redis.start)
            await batch
        counts = await settled(cluster, database)
        record_property("figures", f"{counts} (Redis died {REDIS_DEATHS} times, {request.node.callspec.id})")
        assert all(worker.alive for worker in cluster.workers), "a process did not outlive Redis"
        assert counts.completed == counts.runs, counts.reasons
        assert counts.repeats == 0


@pytest.mark.campaign
class TestPostgres:
    @pytest.fixture
    def settings(self, own_postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
        with own_postgres.fresh() as url:
            yield make_settings(tmp_path, url)

    async def test_killed_and_restarted_under_workers_costs_at_most_a_repeat(
        self, cluster: Cluster, own_postgres: Postgres, database: Database, record_property: Record
    ) -> None:
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter))
        cluster.command("beat")
        await cluster.work(server, flow)
        for kill in (True, False) * SCALE:
            batch = asyncio.create_task(cluster.submit(server, flow, 30))
            await cluster.taken(moment(5, 25))
            sent = moment_now()
            await asyncio.to_thread(own_postgres.restart, kill=kill)
            cluster.deaths.append(Death(sent, moment_now()))
            await batch
        counts = await settled(cluster, database)
        record_property("figures", f"{counts} (PostgreSQL died under workers)")
        assert counts.completed == counts.runs, counts.reasons


@pytest.mark.campaign
class TestMessages:
    async def test_all_delivered_twice_have_one_effect(
        self, cluster: Cluster, database: Database, record_property: Record
    ) -> None:
        cluster.environment = {**cluster.environment, SEND_TWICE: "yes"}
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter))
        cluster.command("beat")
        await cluster.work(server, flow)
        cluster.command("worker", "--concurrency", "2")
        await cluster.submit(server, flow, RUNS // 4)
        counts = await settled(cluster, database)
        record_property("figures", f"{counts} (every message sent twice)")
        assert counts.completed == counts.runs, counts.reasons
        assert (counts.interrupted, counts.repeats) == (0, 0)


@pytest.mark.campaign
class TestReconcilers:
    async def test_three_at_once_hand_nothing_out_twice_to_effect(
        self, cluster: Cluster, database: Database, record_property: Record
    ) -> None:
        """Three beats order sweeps on two workers while a third worker dies again and again."""
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter, seconds=0.1))
        for _ in range(3):
            cluster.command("beat")
        await cluster.work(server, flow)
        cluster.command("worker", "--concurrency", "2")
        for _ in range(2 * SCALE):
            mortal = cluster.command("worker", "--concurrency", "2")
            await cluster.submit(server, flow, 25)
            await asyncio.sleep(moment(0, 1))
            cluster.deaths.append(mortal.kill())
        counts = await settled(cluster, database)
        record_property("figures", f"{counts} (three beats)")
        assert counts.completed == counts.runs, counts.reasons
