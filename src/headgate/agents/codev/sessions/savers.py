"""LangGraph's checkpointers. Imports LangGraph: loaded when the first session needs it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from headgate.foundation.database import sqlite

T = TypeVar("T")
MOST_CONNECTIONS = 4
LONGEST_JOURNAL = 16 * 2**20
"""Bytes of the write-ahead log that remain on disk after a checkpoint."""
_SETUP_LOCK = 0x636F_6465_76
"""PostgreSQL's advisory lock under which tables are made: two servers may start at once."""
_OLDER = "thread_id = ?1 AND checkpoint_id < (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?1)"
_PRUNE = (
    f"DELETE FROM writes WHERE {_OLDER}",  # noqa: S608 - a constant
    f"DELETE FROM checkpoints WHERE {_OLDER}",  # noqa: S608
)


def strict() -> JsonPlusSerializer:
    """Reads plain values and LangGraph's own only; nothing is unpickled, and no class is imported by its name."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None, allowed_json_modules=None)


class AtomicSqliteSaver(AsyncSqliteSaver):
    """Leaves no transaction open: a cancelled one would block all other writers."""

    async def aput(self, *given: Any, **more: Any) -> RunnableConfig:  # noqa: ANN401 - the library's
        """See `BaseCheckpointSaver`."""
        return await self._complete(super().aput(*given, **more))

    async def aput_writes(self, *given: Any, **more: Any) -> None:  # noqa: ANN401 - the library's
        """See `BaseCheckpointSaver`."""
        await self._complete(super().aput_writes(*given, **more))

    async def adelete_thread(self, thread_id: str) -> None:
        """See `BaseCheckpointSaver`."""
        await self._complete(super().adelete_thread(thread_id))

    async def keep_latest(self, session_id: str) -> None:
        """Delete all checkpoints of a session but the last."""
        await self._complete(self._keep_latest(session_id))

    async def _keep_latest(self, session_id: str) -> None:
        async with self.lock:
            for statement in _PRUNE:
                await self.conn.execute(statement, (session_id,))
            await self.conn.commit()

    async def _complete(self, work: Coroutine[Any, Any, T]) -> T:
        """Complete an operation even without a waiting caller, or roll it back."""
        task = asyncio.create_task(self._or_nothing(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def _or_nothing(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except sqlite3.Error:
            async with self.lock:
                await self.conn.rollback()
            raise


@asynccontextmanager
async def open_sqlite(path: Path, patience: float) -> AsyncIterator[AsyncSqliteSaver]:
    """Checkpoints in a file."""
    async with sqlite.connect(path, timeout=patience) as connection:
        await connection.execute(f"PRAGMA busy_timeout={int(patience * 1000)}")
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=FULL")
        await connection.execute(f"PRAGMA journal_size_limit={LONGEST_JOURNAL}")
        saver = AtomicSqliteSaver(connection, serde=strict())
        saver.jsonplus_serde = strict()
        await saver.setup()
        yield saver


@asynccontextmanager
async def open_postgres(url: str, schema: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open checkpoints in a separate schema. Raises `ImportError` when the extra is not installed."""
    saving, pooling, rows = (
        import_module(name) for name in ("langgraph.checkpoint.postgres.aio", "psycopg_pool", "psycopg.rows")
    )
    given = {
        "autocommit": True,
        "prepare_threshold": 0,
        "row_factory": rows.dict_row,
        "options": f"-c search_path={schema}",
    }
    pool = pooling.AsyncConnectionPool(url, min_size=1, max_size=MOST_CONNECTIONS, kwargs=given, open=False)
    await pool.open(wait=True)
    try:
        saver: BaseCheckpointSaver[Any] = saving.AsyncPostgresSaver(pool, serde=strict())
        async with pool.connection() as connection:
            await _locked(connection)
            try:
                await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
                await saver.setup()  # type: ignore[attr-defined]  # only databases have it
            finally:
                await connection.execute("SELECT pg_advisory_unlock(%s)", (_SETUP_LOCK,))
        yield saver
    finally:
        await pool.close()


async def _locked(connection: Any) -> None:  # noqa: ANN401 - psycopg's
    """Take the lock without waiting in the database, where a concurrent index creation would wait for it."""
    while True:
        row = await (await connection.execute("SELECT pg_try_advisory_lock(%s) AS had", (_SETUP_LOCK,))).fetchone()
        if row["had"]:
            return
        await asyncio.sleep(0.05)


async def keep_latest(saver: BaseCheckpointSaver[Any], session_id: str) -> None:
    """Delete all checkpoints of a session but the last."""
    if isinstance(saver, AtomicSqliteSaver):
        await saver.keep_latest(session_id)
    else:
        await saver.aprune([session_id], strategy="keep_latest")
