"""The engine: durable runs of ten steps that do nothing, against the same writes made by hand on the same database.

A run is 11 commits: one that creates it and claims the first step, and one a step that records its result, closes its
attempt, counts the next one's parents down, claims it and opens its attempt. The floor makes exactly these writes in
the same rows with nothing around them: no plan, no component, no coercion, no hash, no event, no queue. Floor and
engine take turns within one run of this program, so that a busy machine slows both.

    python -m benchmarks.engine [--quick] [--json FILE]

CPU-ms is the processor time of a run, the database server's included; it is the steadiest figure. "time" is how many
runs the floor makes while the engine makes one.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop
from sqlalchemy import make_url
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.engine import make_chain, make_services, new_run, store_flow

from benchmarks.engine_floor import Floor, PostgresFloor, SqliteFloor
from benchmarks.measure import Options, Report, arguments, cpu_seconds, median, percentile
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.database import Database
from headgate.foundation.settings import DatabaseSettings, Settings

STEPS = 10
AT_ONCE = (1, 8, 32)
LONGER = {1: 1.0, 8: 1.3, 32: 2.2}
"""A block must be long against one run, which takes longer the more go on at once."""
CONNECTIONS = DatabaseSettings().pool_size
"""On PostgreSQL, for the floor and for the engine."""
CPU_AIM = {"SQLite": 3.0, "SQLite FULL": 2.0, "PostgreSQL": 2.0}
TIME_AIM = {"PostgreSQL": 1.5}
SQLITE_AIM_MS = 3.0
Run = Callable[[], Awaitable[None]]


@dataclass
class Figures:
    """What one contender did, block by block."""

    milliseconds: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def as_values(self) -> dict[str, float]:
        """Percentiles over all runs, medians over the blocks."""
        return {
            "p50_ms": percentile(self.milliseconds, 0.5),
            "p95_ms": percentile(self.milliseconds, 0.95),
            "rate": median(self.rates),
            "cpu_ms": median(self.cpu_ms),
        }


async def main(options: Options) -> None:
    """Measure and print."""
    report = Report(
        f"Durable runs of {STEPS} steps that do nothing",
        ("database", "at once", "p50 ms", "p95 ms", "runs/s", "CPU-ms", "floor runs/s", "floor CPU", "time", "CPU"),
    )
    blocks = [0.25] * 3 if options.quick else [1.0] * 7
    with tempfile.TemporaryDirectory() as folder:
        for synchronous in ("NORMAL", "FULL"):
            settings = _sqlite(Path(folder) / synchronous, synchronous)
            await asyncio.to_thread(migrate, settings)
            name = "SQLite" if synchronous == "NORMAL" else "SQLite FULL"
            await _compare(report, name, settings, blocks, pids=[os.getpid()])
        server = await asyncio.to_thread(Postgres, Path(folder) / "postgres", "benchmark", durable=True)
        try:
            # It would come and go as it likes, in the figures of whoever is being measured.
            server.sql("ALTER SYSTEM SET autovacuum = off")
            server.sql("SELECT pg_reload_conf()")
            with server.fresh() as url:
                settings = make_settings(Path(folder) / "pg", database=DatabaseSettings(url=url, pool_size=CONNECTIONS))
                name = make_url(url).database or ""
                # A database that has lived for a minute has statistics; without them its foreign keys look rows up by
                # whichever index comes first.
                await _compare(
                    report,
                    "PostgreSQL",
                    settings,
                    blocks,
                    pids=[os.getpid(), server.pid],
                    settle=lambda: server.sql("VACUUM ANALYZE", name),
                )
        finally:
            server.close()
    report.finish(options, picture="engine.png")


def _sqlite(folder: Path, synchronous: str) -> Settings:
    return make_settings(folder, database=DatabaseSettings.model_validate({"synchronous": synchronous}))


async def _compare(
    report: Report,
    name: str,
    settings: Settings,
    blocks: list[float],
    *,
    pids: list[int],
    settle: Callable[[], None] = lambda: None,
) -> None:
    """Take turns, block by block; `settle` is done once, after both have warmed up."""
    async with _contenders(settings) as (floor, engine):
        found = {at_once: (Figures(), Figures()) for at_once in AT_ONCE}
        for at_once in AT_ONCE:
            for run in (floor, engine):
                await _block(run, at_once, 0.2, pids)
        settle()
        for seconds in blocks:
            for at_once, pair in found.items():
                for figures, run in zip(pair, (floor, engine), strict=True):
                    await _block(run, at_once, seconds * LONGER[at_once], pids, figures)
        for at_once, (by_hand, by_engine) in found.items():
            _row(report, name, at_once, by_hand.as_values(), by_engine.as_values())
        # Throughput must not fall from 8 runs at once to 32.
        rates = {at_once: pair[1].as_values()["rate"] for at_once, pair in found.items()}
        report.bars.append((f"{name}: rate at 8 over rate at 32", rates[8] / rates[32]))


@asynccontextmanager
async def _contenders(settings: Settings) -> AsyncIterator[tuple[Run, Run]]:
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

    yield floor.run, through_engine
    await floor.close()
    await engine.close()
    await database.close()


async def _block(run: Run, at_once: int, seconds: float, pids: list[int], into: Figures | None = None) -> None:
    """Keep so many runs going for so long."""
    took: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        while time.perf_counter() < end:
            began = time.perf_counter()
            await run()
            took.append((time.perf_counter() - began) * 1000)

    before, began = cpu_seconds(*pids), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(at_once)))
    if into is not None:
        into.rates.append(len(took) / (time.perf_counter() - began))
        into.cpu_ms.append((cpu_seconds(*pids) - before) / len(took) * 1000)
        into.milliseconds += took


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


if __name__ == "__main__":
    chosen = arguments(__doc__ or "")
    uvloop.run(main(chosen))
