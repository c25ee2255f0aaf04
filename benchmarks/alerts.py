"""Evaluation of alert rules: up to 1,000 rules on 100 flows with 100,000 runs of a day, on SQLite.

A tenth of the rules is for the organisation, the others are each for a flow; they have five windows. Rows are written
straight into the tables. The floor is one bare query: runs of published versions of the day, counted by flow and state.
One evaluation is everything that is done each minute: the rules are read, all kinds are evaluated, alerts
are opened and resolved.

    python -m benchmarks.alerts [--quick | --smoke] [--json FILE]
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import and_, event, func, insert, select, text

from benchmarks.measure import Options, Report, arguments
from headgate.entrypoints.installation import open_database
from headgate.features.access.principal import LOCAL
from headgate.features.alerts.conditions import find
from headgate.features.alerts.evaluation import apply
from headgate.features.alerts.tables import AlertRuleRow
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.jobs.leases import clock
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings

AIM = 30.0
DAY = 86_400
KINDS = (("failure", 10**6), ("failure_rate", 100), ("slow", 10**6), ("silent", 0), ("cost", 10**6), ("queue", 10**6))
WINDOWS = (300, 900, 3_600, 21_600, DAY)


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is, and how often it is evaluated."""

    rules: tuple[int, ...]
    flows: int
    runs: int
    repeats: int


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    size = options.choose(
        Size((1, 10, 100, 1_000), 100, 100_000, 7), Size((1, 100, 1_000), 100, 20_000, 3), Size((1, 20), 2, 20, 1)
    )
    asyncio.run(_measured(options, size))


async def _measured(options: Options, size: Size) -> None:
    report = Report(
        f"One evaluation of alert rules, {size.flows} flows, {size.runs:,} runs",
        ("rules", "statements", "ms", "bare query ms", "ratio", "aim"),
    )
    with tempfile.TemporaryDirectory() as folder:
        async with open_database(Settings(data_dir=Path(folder))) as database:
            await _fill(database, size)
            statements: list[str] = []
            engine = database.engine.sync_engine
            event.listen(engine, "before_cursor_execute", lambda *sent: statements.append(sent[2]))
            for rules in size.rules:
                await _add_rules(database, rules, size)
                floor = await _took(lambda: _bare(database), size.repeats)
                took = await _took(lambda: _evaluate(database), size.repeats)
                statements.clear()
                await _evaluate(database)
                ratio = took / floor
                values = {"rules": rules, "statements": len(statements), "ms": took, "floor_ms": floor, "ratio": ratio}
                cells = (str(rules), str(len(statements)), f"{took:.1f}", f"{floor:.1f}", f"{ratio:.1f}", f"{AIM:.0f}")
                report.add(*cells, values=values, bar=(f"{rules} rules", ratio / AIM))
    report.finish(options, picture="alerts.png")


async def _took(work: Callable[[], Awaitable[None]], repeats: int) -> float:
    """Return the median milliseconds."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        await work()
        times.append(1_000 * (time.perf_counter() - begun))
    return median(times)


async def _bare(database: Database) -> None:
    run = flow_runs.c
    row = FlowVersionRow
    of_version = and_(row.flow_id == run.flow_id, row.version == run.version, row.release.is_not(None))
    query = select(run.flow_id, run.status, func.count()).group_by(run.flow_id, run.status)
    query = query.join(FlowVersionRow, of_version).where(run.parent_run_id.is_(None))
    async with database.reading() as session:
        (await session.execute(query.where(run.finished_at >= clock() - DAY * 1_000_000))).all()


async def _evaluate(database: Database) -> None:
    at, tenant_id = clock(), LOCAL.tenant_id
    async with database.reading() as session:
        rules = (await session.execute(select(AlertRuleRow).where(AlertRuleRow.tenant_id == tenant_id))).scalars().all()
        findings = await find(session, rules, at, tenant_id=tenant_id)
    async with database.writing() as session:
        await apply(session, findings, at, judged={rule.id for rule in rules}, tenant_id=tenant_id)


async def _fill(database: Database, size: Size) -> None:
    """Write published flows, and runs that ended in the last day: one in 50 failed."""
    at, tenant = clock(), {"tenant_id": LOCAL.tenant_id}
    flows = [new_id() for _ in range(size.flows)]
    async with database.writing() as session:
        space_id = (await session.execute(text("SELECT id FROM spaces LIMIT 1"))).scalar_one()
        flow: dict[str, Any] = {"space_id": space_id, "description": "", "draft": {}, "revision": 1}
        await session.execute(insert(FlowRow), [{**tenant, **flow, "id": id_, "name": f"Flow {id_}"} for id_ in flows])
        version: dict[str, Any] = {
            "version": 1,
            "release": 1,
            "definition": {},
            "checksum": "0" * 64,
            "logic_checksum": "",
            "headgate_version": "",
        }
        await session.execute(insert(FlowVersionRow), [{**tenant, **version, "flow_id": id_} for id_ in flows])
        run: dict[str, Any] = {"version": 1, "unfinished": 0, "input_payload": {}}
        for start in range(0, size.runs, 10_000):
            rows = []
            for number in range(start, min(start + 10_000, size.runs)):
                ended = at - number * DAY * 1_000_000 // size.runs
                times = {"created_at": ended - 2_000_000, "started_at": ended - 1_000_000, "finished_at": ended}
                status = "failed" if number % 50 == 0 else "completed"
                rows.append(
                    {**tenant, **run, **times, "id": new_id(), "flow_id": flows[number % size.flows], "status": status}
                )
            await session.execute(insert(flow_runs), rows)


async def _add_rules(database: Database, count: int, size: Size) -> None:
    """Replace the rules."""
    at = clock()
    async with database.writing() as session:
        await session.execute(text("DELETE FROM alert_rules"))
        flows = (await session.execute(select(FlowRow.id, FlowRow.space_id).order_by(FlowRow.id))).all()
        rows = []
        for number in range(count):
            kind, threshold = KINDS[number // 10 % len(KINDS)]
            flow_id, space_id = flows[number % size.flows] if number % 10 else (None, None)
            times = {"created_at": at, "updated_at": at, "window_seconds": WINDOWS[number // 7 % len(WINDOWS)]}
            scope = {"flow_id": flow_id, "space_id": space_id, "kind": kind, "threshold": threshold}
            values = {
                "fewest_runs": 5,
                "webhook_shown": "",
                "quiet_seconds": 900,
                "notify_resolved": True,
                "notices": 0,
            }
            values |= {
                "notify_resolved": True,
                "recipients": [],
                "escalation_recipients": [],
                "language": "en",
                "enabled": True,
            }
            rows.append({**times, **scope, **values, "id": new_id(), "tenant_id": LOCAL.tenant_id, "name": str(number)})
        await session.execute(insert(AlertRuleRow), rows)


if __name__ == "__main__":
    main()
