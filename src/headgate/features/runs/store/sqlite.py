"""`RunStore` on SQLite."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.answered_calls import AnsweredCall
from headgate.features.runs.store import sqlite_pauses as pauses
from headgate.features.runs.store import sqlite_resumes as rare
from headgate.features.runs.store import sqlite_transitions as sql
from headgate.features.runs.store import sqlite_waits as waits
from headgate.features.runs.store.calls import KEEP_CALL_SQL, keep_values
from headgate.features.runs.store.children import (
    WAKE_PARENT_SQL,
)
from headgate.features.runs.store.endings import ENDING_SQL, ended_run, log_ending
from headgate.features.runs.store.reading import Rows, StoreReads
from headgate.features.runs.store.sqlite_creation import create
from headgate.features.runs.store.sqlite_transaction import Job
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.features.runs.transitions import (
    Cancelled,
    Claim,
    Ending,
    Failed,
    Finished,
    Held,
    Holder,
    Lease,
    NewRun,
    Onward,
    Progress,
    Resumed,
    RunKey,
    clock,
)
from headgate.features.runs.waiting import Paused, Suspension, WokenRun
from headgate.foundation.database import PROBES
from headgate.foundation.settings import DatabaseSettings

T = TypeVar("T", bound=Progress | Cancelled | bool | None)


class SqliteRunStore(StoreReads):
    """Storage of runs in a SQLite file, written over one connection with group commit.

    Args:
        path: The database file, migrated.
        settings: Pragmas and lock timeout.
    """

    def __init__(self, path: Path, settings: DatabaseSettings) -> None:
        self._writer = SqliteWriter(path, settings)

    async def open(self) -> None:
        """Connect."""
        await self._writer.open()

    async def close(self) -> None:
        """Complete pending writes and disconnect."""
        await self._writer.close()

    @property
    def write_wait_seconds(self) -> float:
        """Age of the oldest pending write."""
        return self._writer.oldest_seconds

    async def prove_write(self) -> None:
        """Make a test write."""
        await self._writer.submit(lambda db: db.execute(PROBES["sqlite"]).close())

    async def create(self, run: NewRun, lease: Lease) -> None:
        """Insert a run and its steps."""
        pinned = run.part.pinned if run.part is not None else ()
        size = len(run.input_payload) + sum(len(pin.output_payload) for pin in pinned)
        await self._writer.submit(lambda db: create(db, run, lease), size=size)

    async def resume(
        self, key: RunKey, at: int, entry: Entry | None = None, once: StartKey | None = None
    ) -> Resumed | None:
        """Resume a failed run."""
        return await self._writer.submit(lambda db: rare.resume(db, key, at, entry, once))

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete, skip, settle and claim."""
        size = len(finished.record.output_payload or "") if finished is not None else 0
        return await self._logged(key.run_id, lambda db: sql.advance(db, key, onward, lease, finished), size=size)

    async def fail(self, key: RunKey, failed: Failed, at: int) -> Progress:
        """Fail a step and its run."""
        return await self._logged(key.run_id, lambda db: sql.fail(db, key, failed, at))

    async def suspend(self, key: RunKey, suspension: Suspension, lease: Lease) -> bool:
        """End the attempt of a step that waits."""
        return await self._writer.submit(lambda db: waits.suspend(db, key, suspension, lease))

    async def rest(self, key: RunKey, at: int) -> bool:
        """Let a run wait of which only waiting steps are left for now."""
        return await self._writer.submit(lambda db: waits.rest(db, key, at))

    async def wake(self, at: int, limit: int, *, run_id: str | None = None) -> Sequence[WokenRun]:
        """Wake steps that are due."""
        return await self._writer.submit(lambda db: waits.wake(db, at, limit, run_id))

    async def pause(self, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
        """Pause a run."""
        return await self._writer.submit(lambda db: pauses.pause(db, key, at, entry))

    async def unpause(self, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
        """Continue a paused run."""
        return await self._writer.submit(lambda db: pauses.unpause(db, key, at, entry))

    async def take_over(self, key: RunKey, holders: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
        """Recover steps from a dead worker."""
        return await self._writer.submit(lambda db: sql.take_over(db, key, holders, lease))

    async def end(self, key: RunKey, code: str, message: str, at: int, *, overdue: bool = False) -> bool:
        """Fail a run for a reason outside its steps."""
        return await self._logged(key.run_id, lambda db: sql.end(db, key, code, message, at, overdue=overdue))

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run."""
        return await self._logged(run_id, lambda db: sql.cancel(db, run_id, tenant_id, at, entry))

    async def renew(self, held: Sequence[Held], lease: Lease) -> frozenset[Held]:
        """Extend leases."""
        return await self._writer.submit(lambda db: sql.renew(db, held, lease))

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call."""
        values = keep_values(key, call)
        return await self._writer.submit(
            lambda db: db.execute(KEEP_CALL_SQL, values).fetchone() is not None, size=len(call.answer)
        )

    async def _rows(self, query: str, values: Mapping[str, Any]) -> Rows:
        return await self._writer.read(lambda db: db.execute(query, values).fetchall())

    async def _snapshot(self, first: str, second: str, values: Mapping[str, Any]) -> tuple[Rows, Rows]:
        """A list among the values is passed as JSON."""
        plain = {
            name: orjson.dumps(value).decode() if isinstance(value, list) else value for name, value in values.items()
        }
        return await self._writer.read(
            lambda db: (db.execute(first, plain).fetchall(), db.execute(second, plain).fetchall())
        )

    async def _logged(self, run_id: str, job: Job[T], *, size: int = 0) -> T:
        """Make a transition; if it ends the run, read the outcome in the same transaction for the log."""

        def transition(db: sqlite3.Connection) -> tuple[T, Ending | None]:
            outcome = job(db)
            if not ended_run(outcome):
                return outcome, None
            db.execute(WAKE_PARENT_SQL, {"run_id": run_id, "at": clock()})
            return outcome, Ending(*db.execute(ENDING_SQL, {"run_id": run_id}).fetchone())

        outcome, ending = await self._writer.submit(transition, size=size)
        if ending is not None:
            log_ending(ending)
        return outcome
