"""Triggers: due times with kills, calls of a webhook, mail, and what triggers cost that nothing is due of.

A real server, in a process of its own. It is killed (SIGKILL) again and again while due times of many schedules wait;
then every due time must have one occurrence, and every occurrence one run. Calls of a webhook are compared with a bare
Starlette endpoint that writes one row, under the same load. Mail is in a real IMAP server, each delivered twice. Idle
triggers are rows of schedules that are due in a month.

    python -m benchmarks.triggers [--quick | --smoke] [--json FILE]
"""

import asyncio
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import psutil
import uvloop
from sqlalchemy import insert, select, text
from tests.support.databases import Postgres, make_settings, migrate
from tests.support.imap_process import PASSWORD, USER

from benchmarks.imap_mailbox import mailbox
from benchmarks.measure import Options, Report, arguments, cpu_seconds, percentile
from benchmarks.serving import come_to_rest, serving
from headgate.features.runs.transitions import clock
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings

FLOW = "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
Door = tuple[str, dict[str, str]]
"""Where calls go: path and headers."""
POLICIES: dict[str, Any] = {"overlap": "allow", "limit": 10_000, "catch_up": "all", "catch_up_hours": 24}
AT_ONCE = 32
"""Calls at the same time."""
AT_A_TIME = 10
"""Schedules that are due each second beside idle ones."""
WEBHOOK_AIM = 5.0
"""Times the processor and the clock of one inserted row that a stored call with its run may take."""
SECOND = 1_000_000
_OF_SCHEDULES = (
    "FROM trigger_occurrences o JOIN triggers t ON t.id = o.trigger_id"
    " WHERE t.kind = 'schedule' AND o.status = 'started'"
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    schedules: int
    due: int
    """Due times of each."""
    kills: int
    calls: int
    mails: int
    idle: int
    rest_seconds: float
    """How long an idle server is watched."""


async def main(options: Options) -> None:
    """Measure and print."""
    size = options.choose(
        Size(100, 100, 100, 60_000, 50_000, 100_000, 30.0),
        Size(50, 10, 3, 500, 100, 10_000, 5.0),
        Size(2, 2, 1, 5, 2, 20, 0.0),
    )
    starts = ("database", "due", "kills", "lost", "doubled", "due/s", "calls/s", "floor/s", "ratio", "mails", "mails/s")
    report = Report("Occurrences of triggers", starts)
    idle = Report(
        "Triggers that nothing is due of",
        ("database", "triggers", "MB more", "CPU-ms/s", "CPU-ms/s without", "late p50 ms", "late p99 ms"),
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 - the server of PostgreSQL runs as another user
        await _measure("SQLite", make_settings(Path(folder) / "sqlite"), size, (report, idle))
        server = await asyncio.to_thread(Postgres, Path(folder) / "postgres", "triggers", careless=())
        try:
            with server.fresh() as url:
                await _measure("PostgreSQL", make_settings(Path(folder) / "pg", url), size, (report, idle))
        finally:
            server.close()
    report.finish(options, picture="triggers.png")
    more = options.json.with_stem(f"{options.json.stem}-idle") if options.json is not None else None
    idle.finish(replace(options, json=more), picture="idle_triggers.png")


@dataclass(slots=True)
class Bench:
    """An installation with a published flow."""

    settings: Settings
    database: Database
    flow_id: str = ""

    @contextmanager
    def server(self) -> Iterator[tuple[httpx2.AsyncClient, int]]:
        """A client of a real server, and its process id."""
        port = _free_port()
        extra = {"HEADGATE_DATA_DIR": str(self.settings.data_dir), "HEADGATE_DATABASE__URL": self.settings.database_url}
        extra |= {"HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS": '["127.0.0.1/32"]'}  # the mail server
        command = [sys.executable, "-m", "headgate", "serve", "--port", str(port)]
        with serving(command, extra, port, "/health") as (_, pid):
            yield httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120), pid

    async def add(self, client: httpx2.AsyncClient, kind: str, **config: Any) -> Any:
        """A trigger of the flow."""
        body = {"name": f"{kind} {new_id()}", "config": {"kind": kind, **config}, "policies": POLICIES}
        return await _post(client, f"/api/v1/flows/{self.flow_id}/triggers", body)

    async def copy(self, trigger_id: str, count: int, **changes: Any) -> None:
        """Add rows like a trigger."""
        table: Any = TriggerRow.__table__
        async with self.database.writing() as session:
            row = (await session.execute(select(table).where(table.c.id == trigger_id))).one()
            for first in range(0, count, 1_000):
                rows = [
                    dict(row._mapping) | changes | {"id": new_id(), "name": new_id()}  # noqa: SLF001 - as documented
                    for _ in range(min(1_000, count - first))
                ]
                await session.execute(insert(table), rows)

    async def until(self, query: str, least: int) -> int:
        """The number that a query returns, once it is high enough."""
        while (found := await self.count(query)) < least:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
        return found

    async def count(self, query: str) -> int:
        """The number that a query returns."""
        async with self.database.reading() as session:
            return int((await session.execute(text(query))).scalar_one())


async def _post(client: httpx2.AsyncClient, path: str, body: Any) -> Any:
    answer = await client.post(path, json=body)
    if not answer.is_success:
        raise RuntimeError(answer.text)
    return answer.json()


async def _measure(name: str, settings: Settings, size: Size, reports: tuple[Report, Report]) -> None:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(migrate, settings)
    bench = Bench(settings, Database(settings))
    with bench.server() as (client, _):
        flow = await _post(client, "/api/v1/flows", {"spec": FLOW})
        bench.flow_id = flow["id"]
        await _post(client, f"/api/v1/flows/{bench.flow_id}/publish", {})
        calls = await _calls(bench, client, size)
        mails, pace = await _mails(bench, client, flow["space_id"], size)
        schedule = await bench.add(client, "schedule", every_seconds=30 * 86_400)
    floor = await _floor_calls(settings, size)
    lost, doubled, due = await _due(bench, schedule["id"], size)
    idle = await _idle(bench, schedule["id"], size)
    await bench.database.close()
    ratio = floor / calls
    count = size.schedules * size.due
    reports[0].add(
        name,
        f"{count:,}",
        str(size.kills),
        str(lost),
        str(doubled),
        f"{due:,.0f}",
        f"{calls:,.0f}",
        f"{floor:,.0f}",
        f"{ratio:.1f}x",
        f"{mails:,}",
        f"{pace:,.0f}",
        values={
            "due": count,
            "kills": size.kills,
            "lost": lost,
            "doubled": doubled,
            "due_per_second": due,
            "calls_per_second": calls,
            "floor_calls_per_second": floor,
            "ratio": ratio,
            "mails": mails,
            "mails_per_second": pace,
        },
        bar=(f"{name}: calls of a webhook", ratio / WEBHOOK_AIM),
    )
    reports[1].add(
        name,
        f"{size.idle:,}",
        *(f"{value:.1f}" for value in idle.values()),
        values={"triggers": size.idle} | idle,
    )


async def _calls(bench: Bench, client: httpx2.AsyncClient, size: Size) -> float:
    """Calls of webhooks that are stored with their runs, per second; so many webhooks that none has its most runs."""
    hooks = [
        await bench.add(client, "webhook", calls_per_minute=100_000) for _ in range(0, size.calls, POLICIES["limit"])
    ]
    doors = [(hook["path"], {"x-api-key": hook["secret"]}) for hook in hooks]
    pace = await _posted(client, doors, size.calls)
    stored = await bench.count("SELECT count(*) FROM trigger_occurrences WHERE flow_run_id IS NOT NULL")
    if stored != size.calls + len(doors):
        raise RuntimeError(f"{size.calls} calls were accepted and {stored} are stored")
    return pace


async def _floor_calls(settings: Settings, size: Size) -> float:
    port, url = _free_port(), settings.database_url
    if url.startswith("sqlite"):
        url = f"sqlite:///{settings.data_dir / 'floor.db'}"
    command = [sys.executable, "-m", "benchmarks.triggers_floor", str(port), url]
    with serving(command, {}, port, "/health"):
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            return await _posted(client, [("/", {})], size.calls)


async def _posted(client: httpx2.AsyncClient, doors: Sequence[Door], count: int) -> float:
    """Accepted calls per second. One that the server is too busy for is sent again when it said, as senders do."""
    left = iter(range(count))

    async def call() -> None:
        for number in left:
            body, (path, headers) = {"number": number, "kind": "order"}, doors[number % len(doors)]
            answer = await client.post(path, headers=headers, json=body)
            while answer.status_code == 503:
                await asyncio.sleep(float(answer.headers["retry-after"]))
                answer = await client.post(path, headers=headers, json=body)
            if answer.status_code != 202:
                raise RuntimeError(answer.text)

    for path, headers in doors:  # what the first call imports
        await client.post(path, headers=headers, json={})
    began = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - began)


async def _mails(bench: Bench, client: httpx2.AsyncClient, space_id: str, size: Size) -> tuple[int, float]:
    """Mails, each delivered twice, and how many of them have their one run, per second."""
    with mailbox(size.mails) as (port, mails):
        fields = {"host": "127.0.0.1", "port": port, "security": "none", "user": USER}
        body = {"name": "inbox", "kind": "imap", "space_id": space_id, "fields": fields}
        await _post(client, "/api/v1/connections", body | {"secrets": {"password": PASSWORD}})
        began = time.perf_counter()
        trigger = await bench.add(client, "mail", connection="inbox", first="all", most=100, every_seconds=10)
        started = f"FROM trigger_occurrences WHERE trigger_id = '{trigger['id']}' AND status = 'started'"
        stored = await bench.until(f"SELECT count(*) {started}", mails)
        seconds = time.perf_counter() - began
        runs = await bench.count(f"SELECT count(DISTINCT flow_run_id) {started}")
        if (stored, runs) != (mails, mails):
            raise RuntimeError(f"{mails} mails made {stored} occurrences and {runs} runs")
        await _post(client, f"/api/v1/triggers/{trigger['id']}/pause", {})
        return mails, mails / seconds


async def _due(bench: Bench, template: str, size: Size) -> tuple[int, int, float]:
    """Due times without an occurrence, runs too many, and occurrences per second, with servers that are killed."""
    expected = size.schedules * size.due
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=size.due + 10)
    end = begin + timedelta(seconds=size.due - 1)
    config = {"kind": "schedule", "every_seconds": 1, "start": begin.isoformat(), "end": end.isoformat()}
    at = int(begin.timestamp()) * SECOND - 1
    await bench.copy(template, size.schedules, config=config, due_at=clock(), cursor_at=at, worker_id=None)
    spent = 0.0
    for number in range(1, size.kills + 2):
        with bench.server() as (_, pid):
            since = time.perf_counter()
            await bench.until(f"SELECT count(*) {_OF_SCHEDULES}", expected * number // (size.kills + 1))
            spent += time.perf_counter() - since
            if number <= size.kills:
                psutil.Process(pid).kill()
    runs = await bench.count("SELECT count(*) FROM flow_runs")
    named = await bench.count("SELECT count(*) FROM trigger_occurrences WHERE status = 'started'")
    made = await bench.count(f"SELECT count(*) {_OF_SCHEDULES}")
    distinct = await bench.count(f"SELECT count(*) FROM (SELECT DISTINCT o.trigger_id, o.due_at {_OF_SCHEDULES}) AS d")
    return expected - distinct, (runs - named) + (made - distinct), expected / spent


async def _idle(bench: Bench, template: str, size: Size) -> dict[str, float]:
    """What a server with idle triggers has more, and how late it starts runs that are due: ten each second."""
    with bench.server() as (_, pid):
        empty, cpu_without = await _at_rest(pid, size)
    later = {"due_at": clock() + 30 * 86_400 * SECOND, "worker_id": None}
    await bench.copy(template, size.idle, **later)
    with bench.server() as (_, pid):
        full, cpu = await _at_rest(pid, size)
        late = await _lateness(bench, template, size)
    return {
        "megabytes": full - empty,
        "cpu_ms": cpu,
        "cpu_ms_without": cpu_without,
        "late_p50_ms": percentile(late, 0.5),
        "late_p99_ms": percentile(late, 0.99),
    }


async def _at_rest(pid: int, size: Size) -> tuple[float, float]:
    """Return the megabytes of a server, and its processor milliseconds a second."""
    await asyncio.to_thread(come_to_rest, pid)
    used, began = cpu_seconds(pid), time.perf_counter()
    await asyncio.sleep(size.rest_seconds)
    share = (cpu_seconds(pid) - used) / (time.perf_counter() - began) if size.rest_seconds else 0.0
    return psutil.Process(pid).memory_info().rss / 1e6, share * 1000


async def _lateness(bench: Bench, template: str, size: Size) -> list[float]:
    """Return how many milliseconds after their due time occurrences of schedules were stored with their runs."""
    count = AT_A_TIME * max(2, int(size.rest_seconds))
    begin = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
    config = {"kind": "schedule", "every_seconds": 1, "start": begin.isoformat()}
    at = int(begin.timestamp()) * SECOND
    await bench.copy(template, AT_A_TIME, config=config, due_at=at, cursor_at=at - 1, worker_id=None)
    since = f"{_OF_SCHEDULES} AND o.due_at >= {at}"
    await bench.until(f"SELECT count(*) {since}", count)
    async with bench.database.reading() as session:
        rows = await session.execute(text(f"SELECT o.created_at - o.due_at {since}"))
        return [late / 1000 for (late,) in rows]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    uvloop.run(main(arguments(__doc__ or "")))
