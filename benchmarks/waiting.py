"""Runs that wait: what one costs in rows and bytes, how late it is woken, and what a loop costs for each iteration.

Waiting runs are made with the store's own statements (`create`, then `suspend`), without executing the steps before the
wait: 100,000 executed runs would take much longer and leave the same rows. The steps that are woken, and all loops, are
executed by a real engine. An iteration is a run of a flow of two steps; it is compared with a run of ten steps whose
rows are written by hand, as in `benchmarks.engine`. Both take turns within one run of this program.

    python -m benchmarks.waiting [--quick | --smoke] [--json FILE]
"""

import asyncio
import os
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import uvloop
from sqlalchemy import func, select, text
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.engine import make_chain, make_flow, make_services, new_run, publish, store_flow

from benchmarks.engine_floor import Floor, PostgresFloor, SqliteFloor
from benchmarks.measure import Options, Report, arguments, cpu_seconds, median, percentile
from benchmarks.serving import come_to_rest, serving
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine, build_store
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.tables import flow_run_events, flow_runs, flow_step_attempts, flow_step_results
from headgate.features.runs.transitions import Claim, Lease, NewRun, RunKey, Seed, clock
from headgate.features.runs.waiting import Suspension, WaitReason
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings

STEPS = 10
AT_ONCE = 8
"""Runs that are parked at the same time."""
SECOND = 1_000_000
YEAR = 365 * 86_400 * SECOND
LATE_AIM_SECONDS = 1.0
LOOP_AIM = 1.5
SEEDS = (Seed("w", 1, 0), Seed("e", 2, 1))


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    parked: int
    due: int
    """Runs that are due within `seconds`."""
    seconds: float
    iterations: int
    rounds: int
    starts: int
    """Starts of a real server whose memory is measured; none: not measured."""


async def main(options: Options) -> None:
    """Measure and print."""
    size = options.choose(
        Size(100_000, 10_000, 60.0, 500, 5, 3), Size(10_000, 1_000, 6.0, 100, 3, 2), Size(20, 10, 0.1, 3, 1, 0)
    )
    waits = Report(
        "Runs that wait",
        ("database", "parked", "parked/s", "rows each", "bytes each", "due", "late p50 ms", "p95 ms", "server +MB"),
    )
    loops = Report(
        f"An iteration of ForEach against a run of {STEPS} steps written by hand",
        ("database", "iteration ms", "CPU-ms", "floor ms", "floor CPU-ms", "time", "CPU"),
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        settings = make_settings(Path(folder) / "sqlite")
        await _measure("SQLite", settings, size, (waits, loops), ())
        server = await asyncio.to_thread(Postgres, Path(folder) / "postgres", "waiting", careless=())
        try:
            with server.fresh() as url:
                await _measure(
                    "PostgreSQL", make_settings(Path(folder) / "pg", url), size, (waits, loops), (server.pid,)
                )
        finally:
            server.close()
    waits.finish(options, picture="waiting.png")
    more = options.json.with_stem(f"{options.json.stem}-loops") if options.json is not None else None
    loops.finish(replace(options, json=more), picture="loops.png")


async def _measure(
    name: str, settings: Settings, size: Size, reports: tuple[Report, Report], server: tuple[int, ...]
) -> None:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(migrate, settings)
    empty = await asyncio.to_thread(_server_megabytes, settings, size.starts)
    database = Database(settings)
    engine = build_engine(settings, database, make_services(database))
    await engine.open()
    await _loops(name, settings, database, engine, size, reports[1], (os.getpid(), *server))
    flow = make_flow({"w": "Wait", "e": "Echo"}, ["w.value -> e.input"], w={"value": "x", "seconds": 1})
    version = await store_flow(database, flow)
    store = build_store(database)
    await store.open()
    before = await _bytes_and_rows(database)
    started = time.perf_counter()
    await _park(store, version, [clock() + YEAR] * size.parked)
    pace = (time.perf_counter() - started) / size.parked
    after = await _bytes_and_rows(database)
    late = await _lateness(database, store, version, size, pace)
    await engine.close()
    await store.close()
    await database.close()
    grown = await asyncio.to_thread(_server_megabytes, settings, size.starts) - empty
    size_each, rows_each = ((new - old) / size.parked for new, old in zip(after, before, strict=True))
    p50, p95 = percentile(late, 0.5), percentile(late, 0.95)
    reports[0].add(
        name,
        f"{size.parked:,}",
        f"{1 / pace:,.0f}",
        f"{rows_each:.1f}",
        f"{size_each:,.0f}",
        f"{size.due:,} in {size.seconds:g} s",
        f"{p50 * 1000:,.0f}",
        f"{p95 * 1000:,.0f}",
        f"{grown:+.0f}",
        values={
            "parked": size.parked,
            "parked_per_second": 1 / pace,
            "rows_each": rows_each,
            "bytes_each": size_each,
            "late_p50_ms": p50 * 1000,
            "late_p95_ms": p95 * 1000,
            "server_megabytes": grown,
        },
        bar=(f"{name}: lateness p95", p95 / LATE_AIM_SECONDS),
    )


async def _park(store: RunStore, version: RunKey, ends: list[int]) -> dict[str, int]:
    """Make a run that waits until each end, in microseconds; its id and its end."""
    left = iter(ends)
    parked: dict[str, int] = {}

    async def work() -> None:
        for end in left:
            key = replace(version, run_id=new_id())
            lease = Lease("benchmark:1:abcdefabcdef", clock(), clock() + 60 * SECOND)
            await store.create(NewRun(key, '{"text": "hi"}', SEEDS, claim=("w",)), lease)
            if not await store.suspend(key, Suspension(Claim("w", 1), WaitReason.TIME, end), lease):
                raise RuntimeError("a run was not parked")
            parked[key.run_id] = end

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return parked


async def _bytes_and_rows(database: Database) -> tuple[int, int]:
    """The size of the database, and its rows of runs, steps, attempts and events."""
    async with database.reading() as session:
        if database.dialect == "sqlite":
            pages = (await session.execute(text("PRAGMA page_count"))).scalar_one()
            size = pages * (await session.execute(text("PRAGMA page_size"))).scalar_one()
        else:
            size = (await session.execute(text("SELECT pg_database_size(current_database())"))).scalar_one()
        tables = (flow_runs, flow_step_results, flow_step_attempts, flow_run_events)
        counts = [(await session.execute(select(func.count()).select_from(table))).scalar_one() for table in tables]
    return size, sum(counts)


async def _lateness(database: Database, store: RunStore, version: RunKey, size: Size, pace: float) -> list[float]:
    """Seconds between the end of each wait and the next attempt at its step. `pace`: seconds to park one run."""
    first = clock() + int((2.0 + 1.5 * pace * size.due) * SECOND)
    ends = await _park(store, version, [first + int(n * size.seconds / size.due * SECOND) for n in range(size.due)])
    if clock() > first:
        raise RuntimeError("the machine is too busy: runs were due before all were parked")
    columns = flow_step_attempts.c
    of_wait = (columns.flow_id == version.flow_id, columns.step_id == "w", columns.attempt_no == 2)
    count, rows = select(func.count()).where(*of_wait), select(columns.flow_run_id, columns.started_at).where(*of_wait)
    done = 0
    while done < size.due:
        await asyncio.sleep(0.5)
        async with database.reading() as session:
            done = (await session.execute(count)).scalar_one()
    async with database.reading() as session:
        found = (await session.execute(rows)).all()
    return [(row.started_at - ends[row.flow_run_id]) / SECOND for row in found]


async def _loops(  # noqa: PLR0917 - what is measured
    name: str,
    settings: Settings,
    database: Database,
    engine: ExecutionBackend,
    size: Size,
    report: Report,
    pids: tuple[int, ...],
) -> None:
    """Iterations of ForEach and runs by hand, in turns."""
    child = await publish(database, await store_flow(database, make_chain(2)))
    loop = make_flow(
        {"s": "Start", "each": "ForEach"}, ["s.text -> each.items"], each={"flow": child.flow_id, "parallel": 4}
    )
    version, by_hand = await store_flow(database, loop), await store_flow(database, make_chain(STEPS))
    floor = _floor(settings)
    await floor.open(by_hand)
    items = "\n".join(str(number) for number in range(size.iterations))
    taken: dict[str, list[tuple[float, float]]] = {"loop": [], "floor": []}

    async def iterations() -> None:
        request = new_run(version, items)
        await engine.start(request)
        await engine.wait(request.key.run_id)

    async def written() -> None:
        for _ in range(size.iterations):
            await floor.run()

    for _ in range(size.rounds):
        for which, work in (("loop", iterations), ("floor", written)):
            clock_before, cpu_before = time.perf_counter(), cpu_seconds(*pids)
            await work()
            spent = (time.perf_counter() - clock_before, cpu_seconds(*pids) - cpu_before)
            taken[which].append(spent)
    await floor.close()
    ms, cpu = (median([one[which] for one in taken["loop"]]) / size.iterations * 1000 for which in (0, 1))
    floor_ms, floor_cpu = (median([one[which] for one in taken["floor"]]) / size.iterations * 1000 for which in (0, 1))
    shares = (ms / floor_ms, cpu / floor_cpu if floor_cpu else 0.0)
    report.add(
        name,
        f"{ms:.1f}",
        f"{cpu:.1f}",
        f"{floor_ms:.1f}",
        f"{floor_cpu:.1f}",
        *(f"{share:.1f}x" for share in shares),
        values={"ms": ms, "cpu_ms": cpu, "floor_ms": floor_ms, "floor_cpu_ms": floor_cpu},
        bar=(f"{name}: time", shares[0] / LOOP_AIM),
    )


def _floor(settings: Settings) -> Floor:
    if settings.database_url.startswith("sqlite"):
        return SqliteFloor(settings, STEPS)
    return PostgresFloor(settings, STEPS, settings.database.pool_size)


def _server_megabytes(settings: Settings, starts: int) -> float:
    """Resident memory of a real server on this database, at rest: the least of some starts."""
    return min((_started(settings) for _ in range(starts)), default=0.0)


def _started(settings: Settings) -> float:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    extra = {"HEADGATE_DATA_DIR": str(settings.data_dir), "HEADGATE_DATABASE__URL": settings.database_url}
    command = [sys.executable, "-m", "headgate", "serve", "--port", str(port)]
    with serving(command, extra, port, "/health") as (_, pid):
        come_to_rest(pid)
        return psutil.Process(pid).memory_info().rss / 1e6


if __name__ == "__main__":
    uvloop.run(main(arguments(__doc__ or "")))
