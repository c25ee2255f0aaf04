"""How long a tenant's runs take while another tenant floods the server, against the same runs alone.

B runs a flow of ten steps that do nothing, one after the other and four at once; meanwhile A has 40 runs that sleep, or
2,000 short runs that were started at once. In the sandbox B calls own code while A has 40 calls that sleep. What is
done alone and flooded comes in turns within one run of this program, so that a busy machine slows both. The short runs
are measured with Celery workers too.

    python -m benchmarks.fairness [--quick | --smoke] [--json FILE]
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvloop
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.engine import COMPONENTS, make_chain, make_flow, make_services, new_run, store_flow
from tests.support.tenants import add_tenant
from tests.support.workers import OwnRedis, WorkerGroup, celery_settings, write_order

from benchmarks.measure import Options, Report, arguments, percentile
from headgate.components.clock import Wait
from headgate.features.access.principal import Principal
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine, open_events
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.sandbox.limits import PoolSize
from headgate.sandbox.pool import SandboxPool

STEPS = 10
CHILDREN = 4
"""Processes of the worker."""
AIM = 2.0
SLEEPING = "import time\ndef run(inputs): time.sleep(60)"
CODE = "def run(inputs): return sum(range(1000))"
Flood = Callable[[], AbstractAsyncContextManager[None]]
Work = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    """How often alone and flooded take turns."""
    runs: int
    """Runs of B a round."""
    sleepers: int
    short: int


@dataclass(slots=True)
class Taken:
    """Seconds that B's work took."""

    alone: list[float] = field(default_factory=list)
    flooded: list[float] = field(default_factory=list)


async def main(options: Options) -> None:
    """Measure and print."""
    size = options.choose(Size(5, 200, 40, 2_000), Size(3, 60, 40, 600), Size(1, 4, 4, 8))
    report = Report(
        "A tenant's work while another one floods the server",
        ("flood of A", "B at once", "alone p50 ms", "p95 ms", "flooded p50 ms", "p95 ms", "ratio of p95"),
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        await _embedded(report, Path(folder), size)
        await _sandbox(report, size)
        await _workers(report, Path(folder), size)
    report.finish(options, picture="fairness.png")


async def _embedded(report: Report, folder: Path, size: Size) -> None:
    settings = make_settings(folder)
    await asyncio.to_thread(migrate, settings)
    database = Database(settings)
    components = (*COMPONENTS, Wait) if Wait not in COMPONENTS else COMPONENTS
    engine = build_engine(settings, database, make_services(database, components=components))
    await engine.open()
    other = await add_tenant(database)
    wait = await store_flow(database, make_flow({"w": "Wait"}, w={"seconds": 3600}), components, principal=other)
    sleeping: dict[str, Flood] = {f"{size.sleepers} sleeping runs": lambda: _flooded(engine, wait, size.sleepers)}
    await _floods(report, engine, database, size, sleeping, other)
    await engine.close()
    await database.close()


async def _workers(report: Report, folder: Path, size: Size) -> None:
    """Short runs only: a step that sleeps keeps its worker, and the others' runs need free ones."""
    postgres = await asyncio.to_thread(Postgres, folder / "postgres", "fairness")
    redis = OwnRedis(folder / "redis", durable=False)
    redis.start()
    group = WorkerGroup(folder / "workers", celery_settings(redis, "fair", concurrency=CHILDREN))
    try:
        await asyncio.to_thread(group.wait_until_up)
        with postgres.fresh() as url:
            settings = make_settings(folder / "data", url)
            settings.data_dir.mkdir()
            chosen = settings.engine.model_copy(update={"backend": "celery"})
            settings = settings.model_copy(update={"engine": chosen, "celery": group.celery})
            database = Database(settings)
            write_order(group.order, settings)
            async with open_events(settings) as bus:
                services = replace(make_services(database, engine=chosen), bus=bus)
                engine = build_engine(settings, database, services)
                await engine.open()
                await _floods(report, engine, database, size, {}, await add_tenant(database), where="workers: ")
                await engine.close()
            await database.close()
    finally:
        group.kill()
        redis.stop()
        postgres.close()


async def _floods(  # noqa: PLR0917 - what is measured
    report: Report,
    engine: ExecutionBackend,
    database: Database,
    size: Size,
    more: dict[str, Flood],
    other: Principal,
    *,
    where: str = "",
) -> None:
    ours = await store_flow(database, make_chain(STEPS))
    theirs = await store_flow(database, make_chain(STEPS), principal=other)

    async def run() -> None:
        request = new_run(ours)
        await engine.start(request)
        await engine.wait(request.key.run_id)

    short: dict[str, Flood] = {f"{where}{size.short:,} short runs": lambda: _flooded(engine, theirs, size.short)}
    for name, flood in (more | short).items():
        for at_once in (1, 4):
            _row(report, name, at_once, await _turns(run, flood, size, at_once))


@asynccontextmanager
async def _flooded(engine: ExecutionBackend, version: RunKey, count: int) -> AsyncIterator[None]:
    """Runs of A from before the block until after it; what is left of them is cancelled."""
    requests = [new_run(version) for _ in range(count)]

    async def begin() -> None:
        for request in requests:
            await engine.start(request)

    beginning = asyncio.create_task(begin())
    await asyncio.sleep(0.05)
    yield
    beginning.cancel()
    await asyncio.gather(beginning, return_exceptions=True)
    for request in requests:
        await engine.cancel(request.key.run_id, request.key.tenant_id)
    while (await engine.health()).queue_depth:  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0.01)


async def _sandbox(report: Report, size: Size) -> None:
    pool = SandboxPool(scan=False, size=PoolSize(queue_seconds=600.0))

    async def call() -> None:
        with pool.runner("b") as runner:
            await runner.call(CODE, "run", {"inputs": None})

    async def sleep() -> None:
        with pool.runner("a") as runner:
            await runner.call(SLEEPING, "run", {"inputs": None}, timeout_seconds=60)

    @asynccontextmanager
    async def flood() -> AsyncIterator[None]:
        tasks = [asyncio.create_task(sleep()) for _ in range(size.sleepers)]
        await asyncio.sleep(0.05)
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    await call()
    _row(report, f"{size.sleepers} sleeping calls of own code", 1, await _turns(call, flood, size, 1))
    await pool.aclose()


async def _turns(work: Work, flood: Flood, size: Size, at_once: int) -> Taken:
    """B's work alone and flooded, in turns."""
    taken = Taken()
    await work()
    for _ in range(size.rounds):
        taken.alone += await _many(work, size.runs, at_once)
        async with flood():
            taken.flooded += await _many(work, size.runs, at_once)
    return taken


async def _many(work: Work, count: int, at_once: int) -> list[float]:
    taken: list[float] = []
    left = iter(range(count))

    async def lane() -> None:
        for _ in left:
            began = time.perf_counter()
            await work()
            taken.append(time.perf_counter() - began)

    await asyncio.gather(*(lane() for _ in range(at_once)))
    return taken


def _row(report: Report, name: str, at_once: int, taken: Taken) -> None:
    figures = {
        f"{kind}_{label}_ms": percentile(values, share) * 1000
        for kind, values in (("alone", taken.alone), ("flooded", taken.flooded))
        for label, share in (("p50", 0.5), ("p95", 0.95))
    }
    ratio = figures["flooded_p95_ms"] / figures["alone_p95_ms"]
    cells = [f"{value:.2f}" for value in figures.values()]
    values = {"at_once": at_once, **figures, "ratio": ratio}
    report.add(
        name, str(at_once), *cells, f"{ratio:.2f}", values=values, bar=(f"{name}, B {at_once} at once", ratio / AIM)
    )


if __name__ == "__main__":
    uvloop.run(main(arguments(__doc__ or "")))
