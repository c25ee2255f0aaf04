"""The writes of a durable run by hand: what the engine is measured against."""

import sqlite3
import time
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg_pool import AsyncConnectionPool

from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import set_pragmas
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings

PAYLOAD = '{"outputs":{"text":{"type":"Text","value":"hello"}},"main":"text"}'
INPUT = '{"text":"hello"}'
RESULT = '{"text":"hello","step_ids":["s10"]}'
HASH = "0" * 64
WORKER = "floor:1:abcdefabcdef"
LEASE = 30_000_000


class Floor(Protocol):
    """Makes the writes of one run after the other."""

    async def open(self, version: RunKey) -> None:
        """Connect; runs are of this version, whose steps are `s1`, `s2` and so on."""
        ...

    async def run(self) -> None:
        """All the writes of one run."""
        ...

    async def close(self) -> None:
        """Disconnect."""
        ...


def now() -> int:
    """Microseconds."""
    return time.time_ns() // 1000


class SqliteFloor:
    """Eleven transactions on one connection, straight from the loop's thread."""

    def __init__(self, settings: Settings, steps: int) -> None:
        self._settings = settings
        self._steps = steps

    async def open(self, version: RunKey) -> None:
        """Connect with the engine's own settings."""
        self._version = version
        self._db = sqlite3.connect(
            Path(self._settings.data_dir) / "headgate.db", isolation_level=None, cached_statements=256
        )
        set_pragmas(self._db, self._settings.database)

    async def close(self) -> None:
        """Disconnect."""
        self._db.close()

    async def run(self) -> None:
        """Create, then finish and claim ten times."""
        run_id = new_id()
        self._create(run_id)
        for number in range(1, self._steps + 1):
            self._finish(run_id, number)

    def _create(self, run_id: str) -> None:
        db, v, at = self._db, self._version, now()
        same = (run_id, v.flow_id, v.version, v.tenant_id)
        db.execute("BEGIN IMMEDIATE")
        db.execute(
            "INSERT INTO flow_runs (id, flow_id, version, tenant_id, status, unfinished, input_payload, created_at,"
            " started_at) VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?)",
            (*same, self._steps, INPUT, at, at),
        )
        working, idle = ("running", 1, WORKER, at + LEASE, at), ("pending", 0, None, None, None)
        db.executemany(
            "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting,"
            " status, attempts, worker_id, lease_until, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*same, f"s{n}", n, int(n > 1), *(idle if n > 1 else working)) for n in range(1, self._steps + 1)],
        )
        self._open_attempt(same, 1, at)
        db.execute("COMMIT")

    def _finish(self, run_id: str, number: int) -> None:
        db, v, at = self._db, self._version, now()
        db.execute("BEGIN IMMEDIATE")
        place = (run_id, v.flow_id, f"s{number}")
        db.execute(
            "UPDATE flow_step_results SET status = 'completed', output_payload = ?, execution_hash = ?,"
            " worker_id = NULL, lease_until = NULL, finished_at = ?"
            " WHERE flow_run_id = ? AND flow_id = ? AND step_id = ? AND attempts = 1 AND status = 'running'",
            (PAYLOAD, HASH, at, *place),
        )
        db.execute(
            "UPDATE flow_step_attempts SET status = 'completed', finished_at = ?"
            " WHERE flow_run_id = ? AND flow_id = ? AND step_id = ? AND attempt_no = 1",
            (at, *place),
        )
        if number == self._steps:
            db.execute(
                "UPDATE flow_runs SET status = 'completed', unfinished = 0, output_payload = ?, finished_at = ?"
                " WHERE id = ? AND status = 'running'",
                (RESULT, at, run_id),
            )
        else:
            db.execute(
                "UPDATE flow_step_results SET status = 'running', waiting = 0, attempts = attempts + 1, worker_id = ?,"
                " lease_until = ?, started_at = ? WHERE flow_run_id = ? AND flow_id = ? AND step_id = ?"
                " AND waiting = 1 AND status = 'pending'",
                (WORKER, at + LEASE, at, run_id, v.flow_id, f"s{number + 1}"),
            )
            self._open_attempt((run_id, v.flow_id, v.version, v.tenant_id), number + 1, at)
            db.execute(
                "UPDATE flow_runs SET unfinished = unfinished - 1 WHERE id = ? AND status = 'running'", (run_id,)
            )
        db.execute("COMMIT")

    def _open_attempt(self, same: tuple[Any, ...], number: int, at: int) -> None:
        self._db.execute(
            "INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no,"
            " status, worker_id, started_at) VALUES (?, ?, ?, ?, ?, ?, 1, 'started', ?, ?)",
            (*same, f"s{number}", number, WORKER, at),
        )


CREATE = """
WITH run AS (
    INSERT INTO flow_runs (id, flow_id, version, tenant_id, status, unfinished, input_payload, created_at, started_at)
    VALUES (%(run)s, %(flow)s, %(version)s, %(tenant)s, 'running', cardinality(%(steps)s::text[]), %(input)s::jsonb,
        %(at)s, %(at)s)
), steps AS (
    INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,
        attempts, worker_id, lease_until, started_at)
    SELECT %(run)s, %(flow)s, %(version)s, %(tenant)s, step_id, number, (number > 1)::int,
        CASE WHEN number = 1 THEN 'running' ELSE 'pending' END, (number = 1)::int,
        CASE WHEN number = 1 THEN %(worker)s END, CASE WHEN number = 1 THEN %(until)s::bigint END,
        CASE WHEN number = 1 THEN %(at)s::bigint END
    FROM unnest(%(steps)s::text[]) WITH ORDINALITY AS t(step_id, number)
)
INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no, status,
    worker_id, started_at)
VALUES (%(run)s, %(flow)s, %(version)s, %(tenant)s, 's1', 1, 1, 'started', %(worker)s, %(at)s)
"""
_DONE = """
WITH done AS (
    UPDATE flow_step_results SET status = 'completed', output_payload = %(payload)s::jsonb, execution_hash = %(hash)s,
        worker_id = NULL, lease_until = NULL, finished_at = %(at)s
    WHERE flow_run_id = %(run)s AND flow_id = %(flow)s AND step_id = %(step)s AND attempts = 1 AND status = 'running'
), closed AS (
    UPDATE flow_step_attempts SET status = 'completed', finished_at = %(at)s
    WHERE flow_run_id = %(run)s AND flow_id = %(flow)s AND step_id = %(step)s AND attempt_no = 1
)"""
FINISH = f"""{_DONE}, claimed AS (
    UPDATE flow_step_results SET status = 'running', waiting = 0, attempts = attempts + 1, worker_id = %(worker)s,
        lease_until = %(until)s, started_at = %(at)s
    WHERE flow_run_id = %(run)s AND flow_id = %(flow)s AND step_id = %(next)s AND waiting = 1 AND status = 'pending'
    RETURNING step_id, step_order
), opened AS (
    INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no, status,
        worker_id, started_at)
    SELECT %(run)s, %(flow)s, %(version)s, %(tenant)s, step_id, step_order, 1, 'started', %(worker)s, %(at)s
    FROM claimed
)
UPDATE flow_runs SET unfinished = unfinished - 1 WHERE id = %(run)s AND status = 'running'
"""
LAST = f"""{_DONE}
UPDATE flow_runs SET status = 'completed', unfinished = 0, output_payload = %(result)s::jsonb, finished_at = %(at)s
WHERE id = %(run)s AND status = 'running'
"""


class PostgresFloor:
    """Eleven prepared statements, each its own transaction, on a pool of the engine's size."""

    def __init__(self, settings: Settings, steps: int, connections: int) -> None:
        url = settings.database.url.replace("+psycopg", "")
        self._pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
            url, min_size=1, max_size=connections, kwargs={"autocommit": True}, open=False
        )
        self._steps = [f"s{number}" for number in range(1, steps + 1)]

    async def open(self, version: RunKey) -> None:
        """Connect."""
        self._same = {
            "flow": version.flow_id,
            "version": version.version,
            "tenant": version.tenant_id,
            "worker": WORKER,
            "payload": PAYLOAD,
            "hash": HASH,
            "result": RESULT,
            "input": INPUT,
            "steps": self._steps,
        }
        await self._pool.open(wait=True)

    async def close(self) -> None:
        """Disconnect."""
        await self._pool.close()

    async def run(self) -> None:
        """Create, then finish and claim ten times."""
        run_id = new_id()
        await self._execute(CREATE, run=run_id)
        for step, following in zip(self._steps, self._steps[1:], strict=False):
            await self._execute(FINISH, run=run_id, step=step, next=following)
        await self._execute(LAST, run=run_id, step=self._steps[-1])

    async def _execute(self, statement: str, **values: str) -> None:
        at = now()
        async with self._pool.connection() as connection:
            await connection.execute(
                statement.encode(), {**self._same, "at": at, "until": at + LEASE, **values}, prepare=True
            )
