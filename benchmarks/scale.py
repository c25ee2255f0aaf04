"""Response times of lists and details with 10,000 flows and 1,000,000 runs, on SQLite and on PostgreSQL.

A real `headgate serve` makes one flow of three steps and runs it; its rows are then copied inside the database. Every
tenth run has its step and attempt rows, the others have none: the disk stays below two gigabytes for each database. One
run in 50 failed, one in 1,000 was cancelled. One client asks over a connection that stays open.

    python -m benchmarks.scale [--quick | --smoke] [--json FILE]
"""

import http.client
import json
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, create_engine, make_url, text
from tests.support.databases import Postgres

from benchmarks.measure import Report, arguments, percentile
from benchmarks.serving import come_to_rest, serving
from benchmarks.startup import free_port
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionEdgeRow, VersionStepRow
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results

HEADGATE = str(Path(sys.executable).with_name("headgate"))
API = "/api/v1"
AIM_MS = 50.0
SPEC = """name: Scale
nodes:
  heard: ChatInput
  joined: CombineText
    separator: ','
  said: ChatOutput
edges:
  heard.text -> joined.parts
  joined.text -> said.input
"""
WITH_STEPS = 10
"""One run in so many has its steps."""
STATUS = "CASE WHEN n % 1000 = 1 THEN 'cancelled' WHEN n % 50 = 0 THEN 'failed' ELSE 'completed' END"


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is, and how often each address is asked."""

    flows: int
    runs: int
    requests: int
    restarts: bool = True
    """Whether the server is started again once the rows are there, with nothing of their making in its memory."""


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    size = options.choose(Size(10_000, 1_000_000, 200), Size(1_000, 50_000, 50), Size(5, 100, 1, restarts=False))
    report = Report(
        f"Lists and details with {size.flows:,} flows and {size.runs:,} runs",
        ("database", "request", "p50 ms", "p95 ms", "aim p95"),
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, opened in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
            if name == "PostgreSQL" and options.smoke:  # its start alone takes longer than a smoke run may
                continue
            with opened(Path(folder)) as environment:
                _measured(report, name, environment, size)
    report.finish(options, picture="scale.png")


@contextmanager
def _sqlite(folder: Path) -> Iterator[dict[str, str]]:
    yield {"HEADGATE_DATA_DIR": str(folder / "sqlite")}


@contextmanager
def _postgres(folder: Path) -> Iterator[dict[str, str]]:
    server = Postgres(folder / "server", "scale")
    try:
        with server.empty() as url:
            yield {"HEADGATE_DATA_DIR": str(folder / "postgresql"), "HEADGATE_DATABASE__URL": url}
    finally:
        server.close()


def _measured(report: Report, database: str, environment: Mapping[str, str], size: Size) -> None:
    with ExitStack() as servers:
        port, pid = servers.enter_context(_server(environment))
        _fill(port, environment, size)
        if size.restarts:
            servers.close()
            port, pid = servers.enter_context(_server(environment))
            come_to_rest(pid)
        for name, path in _requests(size).items():
            took = _asked(port, path, size.requests)
            p50, p95 = percentile(took, 0.5), percentile(took, 0.95)
            values = {"database": database, "request": name, "p50_ms": p50, "p95_ms": p95}
            bar = (f"{database}: {name}", p95 / AIM_MS)
            report.add(database, name, f"{p50:.1f}", f"{p95:.1f}", f"{AIM_MS:.0f}", values=values, bar=bar)


def _fill(port: int, environment: Mapping[str, str], size: Size) -> None:
    """Run a flow on the server, and copy its rows."""
    flow = _post(port, "/flows", {"spec": SPEC})["id"]
    _post(port, f"/flows/{flow}/publish", {})
    run = _post(port, f"/flows/{flow}/runs", {"text": "hello", "wait": True, "version": "published"})["id"]
    url = make_url(
        environment.get("HEADGATE_DATABASE__URL", f"sqlite:///{environment['HEADGATE_DATA_DIR']}/headgate.db")
    )
    engine = create_engine(url)
    with engine.begin() as connection:
        _copy(connection, flow, run, size)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    engine.dispose()


def _requests(size: Size) -> dict[str, str]:
    """Each request by its name."""
    flow, run = _id(size.flows), _id(size.runs // 2 // WITH_STEPS * WITH_STEPS)
    return {
        "flows": "/flows",
        "one flow": f"/flows/{flow}",
        "runs": "/flow-runs",
        "runs of a flow": f"/flow-runs?flow_id={flow}",
        "runs that failed (2 %)": "/flow-runs?status=failed",
        "cancelled runs (0.1 %)": "/flow-runs?status=cancelled",
        "runs that run (none)": "/flow-runs?status=running",
        "cancelled runs of a flow": f"/flow-runs?flow_id={flow}&status=cancelled",
        "runs from the middle": f"/flow-runs?cursor={run}",
        "one run": f"/flow-runs/{run}",
    }


def _copy(connection: Connection, flow: str, run: str, size: Size) -> None:
    """Copy the rows of a flow and of a run inside the database, with new ids."""
    sqlite = connection.dialect.name == "sqlite"
    if not sqlite:
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # no checks of what is copied

    def new(number: str) -> str:
        digits = f"printf('%012x', {number})" if sqlite else f"lpad(to_hex({number}), 12, '0')"
        return f"'00000000-0000-7000-8000-' || {digits}"

    def copies(table: Any, where: str, count: int, step: int = 1, **changed: str) -> None:
        made: Table = getattr(table, "__table__", table)
        chosen = ", ".join(changed.get(column.name, column.name) for column in made.columns)
        names = ", ".join(column.name for column in made.columns)
        series = (
            f"WITH RECURSIVE s(n) AS (SELECT {step} UNION ALL SELECT n + {step} FROM s WHERE n + {step} <= {count})"
        )
        connection.execute(
            text(f"INSERT INTO {made.name} ({names}) {series} SELECT {chosen} FROM {made.name}, s {where}")
        )

    of_flow, of_run = f"WHERE flow_id = '{flow}'", f"WHERE flow_run_id = '{run}'"
    copies(FlowRow, f"WHERE id = '{flow}'", size.flows, id=new("n"), name="name || ' ' || n")
    for table in (VersionStepRow, VersionEdgeRow, FlowVersionRow):  # a version that exists takes no steps
        copies(table, of_flow, size.flows, flow_id=new("n"))
    place = {"flow_id": new(f"1 + n % {size.flows}")}
    copies(flow_runs, f"WHERE id = '{run}'", size.runs, id=new("n"), status=STATUS, **place)
    for steps in (flow_step_results, flow_step_attempts):
        copies(steps, of_run, size.runs, WITH_STEPS, flow_run_id=new("n"), **place)


def _id(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012x}"


@contextmanager
def _server(environment: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    port = free_port()
    with serving([HEADGATE, "serve", "--port", str(port)], environment, port, "/health") as found:
        yield found


def _post(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{API}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def _asked(port: int, path: str, requests: int) -> list[float]:
    """Milliseconds of each request, after three that are not counted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    took: list[float] = []
    for number in range(-3, requests):
        began = time.perf_counter()
        connection.request("GET", API + path)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{path}: {answer.status} {content[:300]!r}")
        if number >= 0:
            took.append((time.perf_counter() - began) * 1000)
    connection.close()
    return took


if __name__ == "__main__":
    main()
