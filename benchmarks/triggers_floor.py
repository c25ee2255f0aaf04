"""A bare endpoint that writes one row for each call and answers 202: the floor of `benchmarks.triggers`.

python -m benchmarks.triggers_floor PORT DATABASE_URL
"""

import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headgate.foundation.ids import new_id

TABLE = "CREATE TABLE IF NOT EXISTS floor_calls (id TEXT PRIMARY KEY, body TEXT NOT NULL)"


def make(url: str) -> Starlette:
    """The application on a database."""
    if url.startswith("sqlite"):
        return _on_sqlite(url.partition(":///")[2])
    return _on_postgres(url.replace("+psycopg", ""))


def _on_sqlite(path: str) -> Starlette:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(TABLE)

    async def receive(request: Request) -> Response:
        body = (await request.body()).decode()
        db.execute("INSERT INTO floor_calls VALUES (?, ?)", (new_id(), body))
        return Response(status_code=202)

    return Starlette(routes=[Route("/", receive, methods=["POST"]), Route("/health", _health)])


def _on_postgres(url: str) -> Starlette:
    pool = AsyncConnectionPool(url, min_size=1, max_size=10, open=False)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with pool, pool.connection() as connection:
            await connection.execute(TABLE)
            await connection.commit()
            yield

    async def receive(request: Request) -> Response:
        body = (await request.body()).decode()
        async with pool.connection() as connection:
            await connection.execute("INSERT INTO floor_calls VALUES (%s, %s)", (new_id(), body))
        return Response(status_code=202)

    routes = [Route("/", receive, methods=["POST"]), Route("/health", _health)]
    return Starlette(routes=routes, lifespan=lifespan)


async def _health(_request: Request) -> Response:
    return Response()


if __name__ == "__main__":
    uvicorn.run(make(sys.argv[2]), port=int(sys.argv[1]), log_level="error", access_log=False)
