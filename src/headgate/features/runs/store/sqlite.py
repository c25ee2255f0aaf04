"""`RunStore` on SQLite."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import orjson

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.event_log import EventPage
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store import sqlite_pauses as pauses
from headgate.features.runs.store import sqlite_resumes as rare
from headgate.features.runs.store import sqlite_transitions as sql
from headgate.features.runs.store import sqlite_waits as waits
from headgate.features.runs.store.calls import KEEP_CALL_SQL, LOAD_CALLS_SQL, calls_of, keep_values, load_values
from headgate.features.runs.store.children import (
    CHILDREN_SQL,
    LAST_SQL,
    OPEN_SQL,
    WAKE_PARENT_SQL,
    child_states,
    children_of,
    range_values,
)
from headgate.features.runs.store.endings import ENDING_SQL, ended_run, log_ending
from headgate.features.runs.store.rows import (
    EVENTS_SQL,
    LIVE_RUNS_SQL,
    LOAD_RUN_SQL,
    LOAD_STEPS_SQL,
    ORPHANS_SQL,
    OVERDUE_SQL,
    READ_RUN_SQL,
    READ_RUNS_SQL,
    READ_STEPS_OF_RUNS_SQL,
    READ_STEPS_SQL,
    STRAGGLERS_OF_RUN_SQL,
    STRAGGLERS_SQL,
    WORK_SQL,
    events_of,
    live_runs_of,
    read_run_of,
    read_runs_of,
    stored_run_of,
    stragglers_of,
    time_worked,
)
from headgate.features.runs.store.run_waits import RUN_WAIT_SQL, run_wait_of, wait_values
from headgate.features.runs.store.sqlite_creation import create
from headgate.features.runs.store.sqlite_transaction import Job
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.features.runs.transitions import (
    Cancelled,
    ChildRun,
    ChildStates,
    Claim,
    Ending,
    Failed,
    Finished,
    Held,
    Holder,
    Lease,
    LiveRun,
    NewRun,
    Onward,
    PastTurn,
    Progress,
    ReadRun,
    Resumed,
    RunKey,
    StoredRun,
    Straggler,
    clock,
)
from headgate.features.runs.waiting import OverdueRun, Paused, RunWait, Suspension, WokenRun
from headgate.foundation.database import PROBES
from headgate.foundation.settings import DatabaseSettings

T = TypeVar("T", bound=Progress | Cancelled | bool | None)


class SqliteRunStore:
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

    async def next_due(self) -> int | None:
        """When the next waiting step is due."""
        return await self._writer.read(waits.next_due)

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

    async def overdue(self, at: int, limit: int) -> Sequence[OverdueRun]:
        """Runs that are past their deadline."""
        values = {"at": at, "limit": limit}
        rows = await self._writer.read(lambda db: db.execute(OVERDUE_SQL, values).fetchall())
        return [OverdueRun(RunKey(*row[:4]), row[4]) for row in rows]

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

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """Return the answered calls of a step."""
        values = load_values(key, step_id)
        return calls_of(await self._writer.read(lambda db: db.execute(LOAD_CALLS_SQL, values).fetchall()))

    async def is_cancelled(self, run_id: str) -> bool:
        """Whether the run must have no further effect."""
        return await self.status(run_id) in {None, RunStatus.CANCELLED}

    async def status(self, run_id: str) -> RunStatus | None:
        """Return the status of a run."""
        query = "SELECT status FROM flow_runs WHERE id = ?"
        row = await self._writer.read(lambda db: db.execute(query, (run_id,)).fetchone())
        return None if row is None else RunStatus(row[0])

    async def read(self, run_id: str, tenant_id: str) -> ReadRun | None:
        """Return a run for display."""
        values = {"run_id": run_id, "tenant_id": tenant_id}

        def query(db: sqlite3.Connection) -> ReadRun | None:
            run = db.execute(READ_RUN_SQL, values).fetchone()
            return read_run_of(run, db.execute(READ_STEPS_SQL, values).fetchall())

        return await self._writer.read(query)

    async def read_all(self, run_ids: Sequence[str], tenant_id: str) -> Sequence[ReadRun]:
        """Return runs for display."""
        values = {"run_ids": orjson.dumps(list(run_ids)).decode(), "tenant_id": tenant_id}

        def query(db: sqlite3.Connection) -> list[ReadRun]:
            runs = db.execute(READ_RUNS_SQL, values).fetchall()
            return read_runs_of(run_ids, runs, db.execute(READ_STEPS_OF_RUNS_SQL, values).fetchall())

        return await self._writer.read(query)

    async def events_after(self, run_id: str, tenant_id: str, seq: int, limit: int) -> EventPage | None:
        """Return the events of a run after a number."""
        values = {"run_id": run_id, "tenant_id": tenant_id, "after": seq, "limit": limit}
        return events_of(await self._writer.read(lambda db: db.execute(EVENTS_SQL, values).fetchall()))

    async def load(self, run_id: str) -> StoredRun | None:
        """Return a run and its steps."""

        def query(db: sqlite3.Connection) -> StoredRun | None:
            run = db.execute(LOAD_RUN_SQL, {"run_id": run_id}).fetchone()
            steps = db.execute(LOAD_STEPS_SQL, {"run_id": run_id}).fetchall()
            return stored_run_of(run, steps)

        return await self._writer.read(query)

    async def live_runs(self) -> Sequence[LiveRun]:
        """Every active run."""
        return live_runs_of(await self._writer.read(lambda db: db.execute(LIVE_RUNS_SQL).fetchall()))

    async def orphans(self) -> Sequence[RunKey]:
        """Waiting runs whose flow is deleted."""
        return [RunKey(*row) for row in await self._writer.read(lambda db: db.execute(ORPHANS_SQL).fetchall())]

    async def worked(self, run_id: str, *, since: int, until: int) -> int:
        """Return the execution time of a run in microseconds."""
        values = {"run_id": run_id, "since": since}
        return time_worked(await self._writer.read(lambda db: db.execute(WORK_SQL, values).fetchall()), until=until)

    async def stragglers(self, *, since: int, run_id: str | None = None) -> Sequence[Straggler]:
        """Return running steps of failed runs."""
        query = STRAGGLERS_SQL if run_id is None else STRAGGLERS_OF_RUN_SQL
        values = {"since": since, "run_id": run_id}
        return stragglers_of(await self._writer.read(lambda db: db.execute(query, values).fetchall()))

    async def children(self, key: RunKey, step_id: str, first: int, stop: int) -> Sequence[ChildRun]:
        """Return runs that a step started."""
        values = range_values(key, step_id, first, stop)
        return children_of(await self._writer.read(lambda db: db.execute(CHILDREN_SQL, values).fetchall()))

    async def run_wait(self, run_id: str, tenant_id: str, *, longest_seconds: float | None = None) -> RunWait | None:
        """Return what a run waits for."""
        values = wait_values(run_id, tenant_id, longest_seconds)
        return run_wait_of(await self._writer.read(lambda db: db.execute(RUN_WAIT_SQL, values).fetchall()))

    async def child_states(self, key: RunKey, step_id: str) -> ChildStates:
        """Return the states of a step's runs."""
        values = range_values(key, step_id, 0, 0)

        def query(db: sqlite3.Connection) -> ChildStates:
            rows = db.execute(OPEN_SQL, values).fetchall()
            return child_states(db.execute(LAST_SQL, values).fetchone()[0], rows)

        return await self._writer.read(query)

    async def past_turns(self, key: RunKey, session_id: str, user_id: str | None, limit: int) -> Sequence[PastTurn]:
        """Return earlier turns of a user's chat session."""
        query = (
            "SELECT input_payload, output_payload FROM flow_runs WHERE flow_id = ? AND session_id = ? AND tenant_id = ?"
            " AND user_id IS ? AND status = 'completed' AND id < ? ORDER BY id DESC LIMIT ?"
        )
        values = (key.flow_id, session_id, key.tenant_id, user_id, key.run_id, limit)
        rows = await self._writer.read(lambda db: db.execute(query, values).fetchall())
        return [PastTurn(*row) for row in reversed(rows)]

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
