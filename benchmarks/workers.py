"""Workers: memory of a child, a long queue drained with flat memory, and how soon a killed worker's run goes on.

Everything is a real process on loopback: PostgreSQL, Redis, `headgate serve`, `headgate beat`, `headgate worker`.

    python -m benchmarks.workers [--quick | --smoke] [--json FILE]

Memory is the proportional share (PSS): pages that children share with their parent are divided among them.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from sqlalchemy import func, select
from tests.integration.faults.cluster import Cluster, Worker
from tests.integration.faults.installation import Server, counting_flow
from tests.support.databases import Postgres, make_settings
from tests.support.forked import IMPORTS

from benchmarks.measure import Options, Report, arguments, median
from headgate.entrypoints.own_services import OwnRedis
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import Database

CHILD_AIM_MB = 120.0
GROWTH_AIM = 1.1
"""Memory at the end of a long queue, in multiples of what it was after the first tenth."""
CONTINUE_AIM_SECONDS = 10.0
CHILDREN = 2
STEP_SECONDS = 1.0
SETTLE_SECONDS = 2.0
IMPORTED = (
    *("celery.apps.beat", "celery.apps.worker", "celery.concurrency.prefork", "kombu.transport.redis", "psycopg_pool"),
    *("headgate.entrypoints.cli.beat", "headgate.entrypoints.cli.serve", "headgate.entrypoints.cli.worker"),
    *("headgate.entrypoints.worker.processes", "headgate.features.runs.store.postgres"),
    "tests.support.headgate_process",
)
"""What its processes have in common: the rest of what tests fork from takes longer to import than a smoke run."""
TWO_STEPS = {
    "name": "Two steps",
    "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "said", "type": "ChatOutput"}],
    "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
}


@dataclass(frozen=True)
class Bench:
    """What is running."""

    cluster: Cluster
    server: Server
    database: Database


async def main(options: Options) -> None:
    """Measure and print."""
    report = Report("Workers", ("what", "found", "aim"))
    os.environ[IMPORTS] = ",".join(IMPORTED)
    queued, deaths = options.choose((10_000, 10), (1_000, 3), (4, 1))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        async with _bench(Path(folder), hasty=options.smoke) as bench:
            await _memory(report, bench, queued)
            await _deaths(
                report,
                bench,
                deaths,
                options.choose(STEP_SECONDS, STEP_SECONDS, 0.2),
                settle=options.choose(SETTLE_SECONDS, SETTLE_SECONDS, 0.0),
            )
    report.finish(options, picture="workers.png")


@asynccontextmanager
async def _bench(folder: Path, *, hasty: bool) -> AsyncIterator[Bench]:
    """Start everything; in haste, what is lost is looked for sooner than an installation does by default."""
    postgres = await asyncio.to_thread(Postgres, folder / "postgres", "workers", careless=())
    redis = OwnRedis(folder / "redis")
    try:
        with postgres.fresh() as url:
            settings = make_settings(folder / "data", url)
            settings.data_dir.mkdir()
            redis.start()
            cluster = Cluster(settings.data_dir, {"HEADGATE_DATABASE__URL": url, "HEADGATE_LOG__LEVEL": "error"})
            cluster.join(redis, hasty=hasty)
            database = Database(settings)
            try:
                yield Bench(cluster, await cluster.up(), database)
            finally:
                cluster.close()
                await database.close()
    finally:
        redis.stop()
        postgres.close()


async def _memory(report: Report, bench: Bench, queued: int) -> None:
    """Fill the queue while nobody works, then let a worker drain it and look at its children."""
    cluster = bench.cluster
    flow = await cluster.make_flow(bench.server, TWO_STEPS)
    cluster.command("beat")
    await cluster.submit(bench.server, flow, queued, at_once=16)
    began = time.perf_counter()
    worker = cluster.command("worker", "--concurrency", str(CHILDREN))
    samples: list[tuple[int, float]] = []
    while (left := await _live(bench.database)) > 0:
        samples.append((queued - left, _largest_child(worker)))
        await asyncio.sleep(0.5)
    lasted = time.perf_counter() - began
    early = [size for done, size in samples if size and done >= queued / 10] or [_largest_child(worker)]
    last, most = _largest_child(worker), max(early)
    _row(report, "memory of a child after the queue (MB)", last, CHILD_AIM_MB)
    _row(report, f"most, over {queued} queued runs (MB)", most, CHILD_AIM_MB)
    _row(report, "memory at the end / after a tenth", last / early[0], GROWTH_AIM)
    report.add("runs of two steps drained (runs/s)", f"{queued / lasted:.0f}", "", values={"rate": queued / lasted})
    worker.kill()


async def _deaths(report: Report, bench: Bench, count: int, seconds: float, *, settle: float) -> None:
    """Kill the worker of a run at work, with another one beside it; how long until its step is begun again."""
    cluster = bench.cluster
    flow = await cluster.make_flow(bench.server, counting_flow(cluster.counter, seconds=seconds))
    spare = await cluster.work(bench.server, flow)
    waited = []
    for number in range(count):
        mortal, spare = spare, cluster.command("worker", "--concurrency", str(CHILDREN))
        await staffed(spare, settle)
        await cluster.submit(bench.server, flow, 1, at_once=1)
        label = f"run-{cluster.labels}"
        await _lines(cluster.counter, label, 1)
        holder = await _holder(cluster, label, (mortal, spare))
        other = spare if holder is mortal else mortal
        before = len(_begins(cluster.counter, label))
        died = holder.kill().sent / 1e6
        again = await _lines(cluster.counter, label, before + 1)
        waited.append(again[-1] - died)
        spare = other
        while await _live(bench.database):  # noqa: ASYNC110 - another process ends it
            await asyncio.sleep(0.2)
        print(f"death {number + 1}: went on after {waited[-1]:.1f} s")
    _row(report, "a killed worker's run goes on, median (s)", median(waited), CONTINUE_AIM_SECONDS)
    _row(report, "the same, longest (s)", max(waited), CONTINUE_AIM_SECONDS)


async def staffed(worker: Worker, settle: float) -> None:
    """Wait until a worker has its children, and a moment longer: they open what they work with."""
    async with asyncio.timeout(60):
        while len(psutil.Process(worker.process.pid).children()) < CHILDREN:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await asyncio.sleep(settle)


def _row(report: Report, what: str, value: float, aim: float) -> None:
    report.add(what, f"{value:.1f}", f"{aim:g}", values={"value": value, "aim": aim}, bar=(what, value / aim))


async def _live(database: Database) -> int:
    query = select(func.count()).select_from(flow_runs).where(flow_runs.c.status.in_(LIVE_RUNS))
    async with database.reading() as session:
        return int((await session.execute(query)).scalar_one())


def _largest_child(worker: Worker) -> float:
    """Megabytes of the child that uses most; 0 while there is none."""
    sizes = [0.0]
    for child in psutil.Process(worker.process.pid).children():
        try:
            sizes.append(child.memory_full_info().pss / 1e6)
        except psutil.NoSuchProcess:
            continue
    return max(sizes)


def _begins(counter: Path, label: str) -> list[tuple[float, int]]:
    """Moments in seconds at which steps of a run began, each with its process."""
    lines = [line.split(" ") for line in counter.read_text().splitlines()] if counter.exists() else []
    return [(int(line[3]) / 1e6, int(line[4])) for line in lines if line[0] == label and line[2] == "begin"]


async def _lines(counter: Path, label: str, count: int) -> list[float]:
    async with asyncio.timeout(60):
        while len(found := _begins(counter, label)) < count:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
    return [at for at, _ in found]


async def _holder(cluster: Cluster, label: str, workers: tuple[Worker, ...]) -> Worker:
    """The worker whose child is at the run."""
    pid = _begins(cluster.counter, label)[-1][1]
    for worker in workers:
        if pid in {child.pid for child in psutil.Process(worker.process.pid).children(recursive=True)}:
            return worker
    raise RuntimeError("nobody is at the run")


if __name__ == "__main__":
    asyncio.run(main(arguments(__doc__ or "")))
