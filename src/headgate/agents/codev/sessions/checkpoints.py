"""Checkpoints of sessions (DD-024): in a separate file, or in PostgreSQL with the platform's rows.

What reads and writes them is loaded and opened when the first session needs it. Only plain values are read back: a
checkpoint that names a class of Python is not made into one.
"""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import text

from headgate.foundation.database import Database, explain
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import Settings

FILE = "development.db"
SCHEMA = "codev"
_DRIVERS = frozenset({"sqlite3", "psycopg", "psycopg_pool"})
_LISTED = "SELECT DISTINCT thread_id FROM {} WHERE thread_id > :after ORDER BY thread_id LIMIT :limit"
_LISTED_IN_SCHEMA = text(_LISTED.format(f"{SCHEMA}.checkpoints"))
_HAS_TABLE = text(f"SELECT to_regclass('{SCHEMA}.checkpoints') IS NOT NULL")
_OPENING = "headgate.agents.codev.sessions.savers"


class Checkpoints:
    """The checkpoints of an installation. Lives on one event loop."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._lock = asyncio.Lock()
        self._open = contextlib.AsyncExitStack()
        self._saver: Any = None

    async def saver(self) -> Any:  # noqa: ANN401 - LangGraph's, which is not loaded before
        """Return LangGraph's checkpointer. Raises `Unavailable` when it cannot be opened."""
        async with self._lock:
            if self._saver is None:
                self._saver = await self._opened()
            return self._saver

    async def state(self, session_id: str) -> dict[str, Any]:
        """Return the state of a session at its last step; empty before the first."""
        with checkpoint_errors():
            checkpoint = await (await self.saver()).aget_tuple(config_of(session_id))
        return dict(checkpoint.checkpoint["channel_values"]) if checkpoint is not None else {}

    async def forget(self, session_id: str) -> None:
        """Delete a session's checkpoints."""
        with checkpoint_errors():
            await (await self.saver()).adelete_thread(session_id)

    async def sessions(self, *, after: str, limit: int) -> Sequence[str]:
        """Ids of sessions that have checkpoints, in order, behind one. LangGraph is not needed for that."""
        if self._database.dialect == "postgresql":
            async with self._database.reading() as session:
                if (await session.execute(_HAS_TABLE)).scalar_one():
                    return (await session.execute(_LISTED_IN_SCHEMA, {"after": after, "limit": limit})).scalars().all()
            return ()
        path = self._settings.data_dir / FILE
        if not path.exists():
            return ()
        with checkpoint_errors():
            return await asyncio.to_thread(_listed_in, path, self._settings.database.busy_timeout_seconds, after, limit)

    async def tidy(self, session_id: str) -> None:
        """Keep only the last checkpoint. Each contains the complete session, so many of them are large."""
        with checkpoint_errors():
            await _savers().keep_latest(await self.saver(), session_id)

    async def thin(self, session_id: str) -> None:
        """Do the same during work. Not on PostgreSQL, which stores values before their checkpoint."""
        if self._database.dialect != "postgresql":
            await self.tidy(session_id)

    async def close(self) -> None:
        """Close connections."""
        async with self._lock:
            self._saver = None
            await self._open.aclose()

    async def _opened(self) -> Any:  # noqa: ANN401
        try:
            savers = _savers()
            if self._database.dialect == "postgresql":
                url = self._database.url.set(drivername="postgresql").render_as_string(hide_password=False)
                return await self._open.enter_async_context(savers.open_postgres(url, SCHEMA))
            path = self._settings.data_dir / FILE
            with contextlib.suppress(FileExistsError):  # it holds what was asked and answered
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            patience = self._settings.database.busy_timeout_seconds
            return await self._open.enter_async_context(savers.open_sqlite(path, patience))
        except ImportError as error:
            raise Unavailable(
                f"Sessions cannot be stored: {error.name} is not installed.",
                remedy="Install a model provider, such as headgate[openai]; for PostgreSQL headgate[postgres] too.",
            ) from error
        except OSError as error:
            raise Unavailable(
                f"Sessions cannot be stored: {error.strerror or error}.", remedy="Check HEADGATE_DATA_DIR."
            ) from error


@contextlib.contextmanager
def checkpoint_errors() -> Iterator[None]:
    """Convert a driver's errors about checkpoints (locked, full, missing) to `Unavailable`.

    LangGraph talks to the driver itself, not through `Database`, which does the same for all else.
    """
    try:
        yield
    except Exception as error:
        away = explain(error) if type(error).__module__.partition(".")[0] in _DRIVERS else None
        if away is None:
            raise
        raise away from error


def config_of(session_id: str) -> dict[str, Any]:
    """LangGraph's name of a session."""
    return {"configurable": {"thread_id": session_id}}


def _listed_in(path: Path, patience: float, after: str, limit: int) -> Sequence[str]:
    with contextlib.closing(sqlite3.connect(path, timeout=patience)) as file:
        if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'").fetchone():
            return ()
        return [row[0] for row in file.execute(_LISTED.format("checkpoints"), {"after": after, "limit": limit})]


def _savers() -> Any:  # noqa: ANN401 - the module; it imports LangGraph
    return import_module(_OPENING)
