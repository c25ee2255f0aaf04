"""A hand-written Celery chain of ten tasks, as one would write it first: each claims its row, then finishes it.

The kindest form of it: results are not kept, the rows are by primary key, each worker process keeps its connection, and
the last task tells the waiting side through a Redis list.
"""

import asyncio
import os
import subprocess
import sys
import uuid
from functools import cache
from typing import Any

import psycopg
import redis
import redis.asyncio
from celery import Celery, chain

from benchmarks.peers.port import STEPS, Peer

POSTGRES, REDIS = "BENCHMARK_POSTGRES", "BENCHMARK_REDIS"
TABLE = """
CREATE TABLE IF NOT EXISTS chain_steps (
    run_id text, step int, status text NOT NULL, output jsonb, started_at timestamptz, finished_at timestamptz,
    PRIMARY KEY (run_id, step)
)"""
CLAIM = "INSERT INTO chain_steps VALUES (%s, %s, 'running', NULL, now()) ON CONFLICT DO NOTHING"
FINISH = (
    "UPDATE chain_steps SET status = 'completed', output = %s, finished_at = now()"
    " WHERE run_id = %s AND step = %s AND status = 'running'"
)
PATIENCE_SECONDS = 60

app = Celery("chain", broker=os.environ.get(REDIS, ""))
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)


@cache
def _connection() -> psycopg.Connection[Any]:
    return psycopg.connect(os.environ[POSTGRES], autocommit=True, prepare_threshold=0)


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(os.environ[REDIS])


@app.task(name="step")
def step(text: str, run_id: str, number: int) -> str:
    """Claim, do nothing, finish."""
    _connection().execute(CLAIM, (run_id, number))
    _connection().execute(FINISH, ('{"text": "hello"}', run_id, number))
    if number == STEPS:
        _redis().lpush(f"done:{run_id}", "1")
    return text


class CeleryChain:
    """Sends chains to a worker that it starts."""

    def __init__(self, postgres: str, url: str) -> None:
        self._environment = os.environ | {POSTGRES: postgres, REDIS: url}
        self._postgres, self._url = postgres, url

    async def open(self) -> None:
        """Make the table, start a worker with a process a core."""
        with psycopg.connect(self._postgres, autocommit=True) as connection:
            connection.execute(TABLE)
        app.conf.broker_url = self._url
        self._redis = redis.asyncio.Redis.from_url(self._url, max_connections=100, socket_timeout=PATIENCE_SECONDS + 10)
        self._start_worker()
        await self.run()

    def _start_worker(self) -> None:
        options = ("--loglevel", "ERROR", "--concurrency", str(os.cpu_count() or 1), "--without-mingle")
        self._worker = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "celery", "-A", "benchmarks.peers.chain:app", "worker", *options],
            env=self._environment,
            stdout=subprocess.DEVNULL,
        )

    async def run(self) -> None:
        """Send a chain, wait for its last step."""
        run_id = str(uuid.uuid4())
        first, *others = [step.s("hello", run_id, 1), *(step.s(run_id, number) for number in range(2, STEPS + 1))]
        await asyncio.to_thread(chain(first, *others).apply_async)
        if await self._redis.brpop([f"done:{run_id}"], timeout=PATIENCE_SECONDS) is None:
            raise RuntimeError("The chain did not end.")

    async def close(self) -> None:
        """End the worker."""
        self._worker.terminate()
        self._worker.wait(timeout=15)
        await self._redis.aclose()


def make(postgres: str, url: str) -> Peer:
    """The peer."""
    return CeleryChain(postgres, url)
