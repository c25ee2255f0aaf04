"""The engine: durable runs of ten steps that do nothing, against the same writes made by hand on the same database.

A run is 11 commits: one that creates it and claims the first step, and one a step that records its result, closes its
attempt, counts the next one's parents down, claims it and opens its attempt. The floor makes exactly these writes in
the same rows with nothing around them: no plan, no component, no coercion, no hash, no event, no queue. All take turns
within one run of this program, so that a busy machine slows all.

On PostgreSQL the same ten steps are also done by Headgate's workers (Celery on Redis) and, where the dependency group
`bench` is installed, by what people use today: a hand-written Celery chain, LangGraph with its PostgreSQL saver, DBOS.

    python -m benchmarks.engine [--quick | --smoke] [--json FILE]

CPU-ms is the processor time of a run, the database server's included; it is the steadiest figure. "time" is how many
runs the floor makes while the engine makes one.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import uvloop
from sqlalchemy import make_url
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.engine import make_chain, make_services, new_run, store_flow

from benchmarks.contenders import Contender, Figures, take_turns
from benchmarks.engine_floor import Floor, PostgresFloor, SqliteFloor
from benchmarks.measure import Options, Report, arguments
from benchmarks.peers.port import STEPS, keep_going
from benchmarks.peers.redis_server import redis_server
from benchmarks.peers.remote import Remote
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.database import Database
from headgate.foundation.settings import DatabaseSettings, Settings

LONGER = {1: 1.0, 8: 1.3, 32: 2.2}
"""Runs at once. A block must be long against one run, which takes longer the more go on at once."""
CONNECTIONS = DatabaseSettings().pool_size
"""On PostgreSQL, for the floor and for the engine."""
CPU_AIM = {"SQLite": 3.0, "SQLite FULL": 2.0, "PostgreSQL": 2.0}
TIME_AIM = {"PostgreSQL": 1.5}
SQLITE_AIM_MS = 3.0
WORKERS_CPU_AIM_MS = 20.0
WORKERS_RATE_AIM = 3.0
"""Times the runs per second of a hand-written chain."""
FLOOR, ENGINE = "raw floor", "Headgate, embedded"
WORKERS, CHAIN = "Headgate, workers", "Celery chain"
PEERS = {"celery-chain": CHAIN, "langgraph": "LangGraph, PostgreSQL saver", "dbos": "DBOS"}
Found = dict[tuple[str, int], Figures]


@dataclass(frozen=True, slots=True)
class Effort:
    """Seconds of each block, and how many runs at once with how much longer their blocks are."""

    blocks: list[float]
    at_once: Mapping[int, float]


async def main(options: Options) -> None:
    """Measure and print."""
    report = Report(
        f"Durable runs of {STEPS} steps that do nothing",
        ("database", "at once", "p50 ms", "p95 ms", "runs/s", "CPU-ms", "floor runs/s", "floor CPU", "time", "CPU"),
    )
    others = Report(
        "The same beside others, on one PostgreSQL and Redis",
        ("who", "at once", "p50 ms", "p95 ms", "runs/s", "CPU-ms", "of it database", "time", "CPU"),
    )
    effort = Effort(options.choose([1.0] * 7, [0.25] * 3, [0.01]), options.choose(LONGER, LONGER, {1: 1.0, 2: 1.0}))
    with tempfile.TemporaryDirectory() as folder:
        for synchronous in ("NORMAL", "FULL"):
            settings = _sqlite(Path(folder) / synchronous, synchronous)
            await asyncio.to_thread(migrate, settings)
            async with _here(settings) as contenders:
                _compare(
                    report, "SQLite" if synchronous == "NORMAL" else "SQLite FULL", await _turns(contenders, effort)
                )
        found = await _on_postgres(Path(folder), effort)
    _compare(report, "PostgreSQL", found)
    _beside_others(report, others, found)
    report.finish(options, picture="engine.png")
    more = options.json.with_stem(f"{options.json.stem}-peers") if options.json is not None else None
    axis = "processor time of a run at 8 at once, in multiples of the raw floor's"
    others.finish(replace(options, json=more), picture="peers.png", axis=axis)


async def _turns(contenders: list[Contender], effort: Effort) -> Found:
    return await take_turns(contenders, effort.at_once, effort.blocks)


def _sqlite(folder: Path, synchronous: str) -> Settings:
    return make_settings(folder, database=DatabaseSettings.model_validate({"synchronous": synchronous}))


async def _on_postgres(folder: Path, effort: Effort) -> Found:
    """Everybody on one server, each in a database of its own."""
    server = await asyncio.to_thread(Postgres, folder / "postgres", "benchmark", careless=())
    try:
        # It would come and go as it likes, in the figures of whoever is being measured.
        server.sql("ALTER SYSTEM SET autovacuum = off")
        server.sql("ALTER SYSTEM SET max_connections = 200")
        await asyncio.to_thread(server.restart)
        with server.fresh() as url, redis_server() as (redis, redis_pid):
            settings = make_settings(folder / "pg", database=DatabaseSettings(url=url, pool_size=CONNECTIONS))
            name = make_url(url).database or ""
            async with _here(settings) as contenders, AsyncExitStack() as stack:
                for peer, shown in {"headgate-workers": WORKERS, **_installed()}.items():
                    database = f"peer_{peer.replace('-', '_')}"
                    server.sql(f"CREATE DATABASE {database}")
                    address = server.url(database).replace("+psycopg", "")
                    remote = await stack.enter_async_context(Remote(peer, address, redis))
                    queue = (redis_pid,) if shown in {WORKERS, CHAIN} else ()
                    contenders.append(Contender(shown, remote.block, own=(remote.pid, *queue)))
                # A database that has lived for a minute has statistics; without them its foreign keys look rows up by
                # whichever index comes first.
                return await take_turns(
                    contenders,
                    effort.at_once,
                    effort.blocks,
                    database=(server.pid,),
                    settle=lambda: server.sql("VACUUM ANALYZE", database=name),
                )
    finally:
        server.close()


def _installed() -> dict[str, str]:
    """The peers whose packages are there."""
    if find_spec("dbos") is None:
        print("Peers are left out: `uv sync --group bench` installs them.")
        return {}
    return PEERS


@asynccontextmanager
async def _here(settings: Settings) -> AsyncIterator[list[Contender]]:
    """The floor and the embedded engine, in this process."""
    database = Database(settings)
    services = make_services(database)
    engine = build_engine(settings, database, services)
    await engine.open()
    version = await store_flow(database, make_chain(STEPS))
    floor: Floor = (
        SqliteFloor(settings, STEPS) if database.dialect == "sqlite" else PostgresFloor(settings, STEPS, CONNECTIONS)
    )
    await floor.open(version)

    async def through_engine() -> None:
        request = new_run(version)
        await engine.start(request)
        await engine.wait(request.key.run_id)

    here = (os.getpid(),)
    yield [
        Contender(FLOOR, lambda at_once, seconds: keep_going(floor.run, at_once, seconds), here=here),
        Contender(ENGINE, lambda at_once, seconds: keep_going(through_engine, at_once, seconds), here=here),
    ]
    await floor.close()
    await engine.close()
    await database.close()


def _compare(report: Report, name: str, found: Found) -> None:
    """The embedded engine against the floor."""
    levels = sorted({at_once for _, at_once in found})
    for at_once in levels:
        _row(report, name, at_once, found[FLOOR, at_once].as_values(), found[ENGINE, at_once].as_values())
    # Throughput must not fall from 8 runs at once to 32.
    few, many = levels[-2:]
    fall = found[ENGINE, few].as_values()["rate"] / found[ENGINE, many].as_values()["rate"]
    report.bars.append((f"{name}: rate at {few} over rate at {many}", fall))


def _row(report: Report, name: str, at_once: int, floor: dict[str, float], found: dict[str, float]) -> None:
    cpu, taken = found["cpu_ms"] / floor["cpu_ms"], floor["rate"] / found["rate"]
    report.add(
        name,
        str(at_once),
        f"{found['p50_ms']:.2f}",
        f"{found['p95_ms']:.2f}",
        f"{found['rate']:.0f}",
        f"{found['cpu_ms']:.2f}",
        f"{floor['rate']:.0f}",
        f"{floor['cpu_ms']:.2f}",
        f"{taken:.1f}x",
        f"{cpu:.1f}x",
        values={"at_once": at_once, "engine": found, "floor": floor, "cpu_ratio": cpu, "time_ratio": taken},
        bar=(f"{name} at {at_once}: CPU within {CPU_AIM[name]:g}x", cpu / CPU_AIM[name]),
    )
    if at_once == 1 and name == "SQLite":
        report.bars.append((f"{name} at 1: p50 of {SQLITE_AIM_MS:g} ms", found["p50_ms"] / SQLITE_AIM_MS))
    if name in TIME_AIM:
        report.bars.append((f"{name} at {at_once}: time within {TIME_AIM[name]:g}x", taken / TIME_AIM[name]))


def _beside_others(report: Report, others: Report, found: Found) -> None:
    """Everybody on PostgreSQL, as ratios to the floor; the aims for workers go to the first report's picture."""
    for who, at_once in sorted(found, key=lambda one: one[1]):
        floor, one = found[FLOOR, at_once].as_values(), found[who, at_once].as_values()
        cpu, taken = one["cpu_ms"] / floor["cpu_ms"], floor["rate"] / one["rate"]
        others.add(
            who,
            str(at_once),
            f"{one['p50_ms']:.1f}",
            f"{one['p95_ms']:.1f}",
            f"{one['rate']:.1f}",
            f"{one['cpu_ms']:.1f}",
            f"{one['database_ms']:.1f}",
            f"{taken:.1f}x",
            f"{cpu:.1f}x",
            values={"at_once": at_once, **one, "cpu_ratio": cpu, "time_ratio": taken},
            bar=(who, cpu) if at_once == 8 else None,
        )
        if who == WORKERS:
            report.bars.append(
                (f"Workers at {at_once}: {WORKERS_CPU_AIM_MS:g} CPU-ms", one["cpu_ms"] / WORKERS_CPU_AIM_MS)
            )
            if (CHAIN, at_once) in found:
                chain = found[CHAIN, at_once].as_values()["rate"]
                label = f"Workers at {at_once}: {WORKERS_RATE_AIM:g}x the chain's runs/s"
                report.bars.append((label, WORKERS_RATE_AIM * chain / one["rate"]))


if __name__ == "__main__":
    chosen = arguments(__doc__ or "")
    uvloop.run(main(chosen))
