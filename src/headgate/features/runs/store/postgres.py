"""`RunStore` on PostgreSQL: one prepared statement per transition; no connection is held in between."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from headgate.features.audit import statements as audit
from headgate.features.audit.chain import Entry
from headgate.features.idempotency import keys
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.answered_calls import AnsweredCall
from headgate.features.runs.companions import write_in
from headgate.features.runs.errors import ENDS_CHILDREN, SourceGone
from headgate.features.runs.quotas.usage import check_in
from headgate.features.runs.states import LIVE_RUNS, RunStatus, StepStatus
from headgate.features.runs.store import postgres_pauses as pauses
from headgate.features.runs.store import postgres_resumes as rare
from headgate.features.runs.store import postgres_statements as sql
from headgate.features.runs.store import postgres_trees as trees
from headgate.features.runs.store import postgres_waits as waits
from headgate.features.runs.store.calls import KEEP_CALL_SQL, keep_values
from headgate.features.runs.store.endings import ENDING_SQL, ended_run, log_ending
from headgate.features.runs.store.postgres_creation import CREATE, CREATE_FROM, KEEP_SOURCES, creation_values
from headgate.features.runs.store.postgres_pool import PostgresPool
from headgate.features.runs.store.reading import Rows, StoreReads
from headgate.features.runs.store.rows import (
    DELIVER_SQL,
    completed_data,
    delivery_values,
    failed_data,
    for_postgres,
    suspension_values,
)
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
    StepRecord,
)
from headgate.features.runs.waiting import Paused, Suspension, WokenRun
from headgate.foundation.database import PROBES
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

if TYPE_CHECKING:  # referenced without importing psycopg
    from psycopg import AsyncConnection

_ENDING, _DELIVER, _KEEP_CALL = for_postgres(ENDING_SQL), for_postgres(DELIVER_SQL), for_postgres(KEEP_CALL_SQL)
_RECORD = tuple(field.name for field in fields(StepRecord))
T = TypeVar("T", bound=Progress | Cancelled | bool)
log = get_logger(__name__)


class PostgresRunStore(StoreReads):
    """Runs in PostgreSQL.

    Args:
        url: A libpq URL of a migrated database.
        pool_size: Most connections; each is in use only for the duration of one statement.
    """

    def __init__(self, url: str, pool_size: int) -> None:
        self._pool = PostgresPool(url, pool_size)

    async def open(self) -> None:
        """Connect. Raises `Unavailable`."""
        await self._pool.open()

    async def close(self) -> None:
        """Disconnect."""
        await self._pool.close()

    @property
    def connections_out(self) -> int:
        """Number of connections in use."""
        return self._pool.connections_out

    @property
    def write_wait_seconds(self) -> float:
        """Longest current wait for a connection."""
        return self._pool.wait_seconds

    async def prove_write(self) -> None:
        """Make a test write."""
        await self._pool.execute(PROBES["postgresql"], {})

    async def create(self, run: NewRun, lease: Lease) -> None:
        """Insert a run and its steps."""
        values = _key(run.key) | _lease(lease) | creation_values(run)
        if run.once is not None or run.reuse is not None or run.bounds or run.parent is not None or run.companions:
            await self._create_checked(values, run)
        elif run.entry is None:
            await self._pool.execute(CREATE, values)
        else:
            await self._and_append(CREATE, values, run.entry)

    async def _create_checked(self, values: Mapping[str, Any], run: NewRun) -> None:
        """Insert a run that a concurrent start, the deletion of its source or a quota may prevent."""
        async with self._pool.connection() as connection, connection.transaction():
            if run.parent is not None:
                await trees.require_parent(connection, run.key, run.parent)
            await _claim(connection, run.once, run.key.run_id, values["at"])
            await check_in(connection, run.bounds, run.key.tenant_id, values["at"])
            await write_in(connection, run.companions, run.key.run_id)
            if run.reuse is None:
                await connection.execute(CREATE, values)
            else:
                await connection.execute(KEEP_SOURCES, values)
                copied = await (await connection.execute(CREATE_FROM, values)).fetchone()
                if copied is None or copied[0] != len(set(run.reuse.steps)):
                    raise SourceGone(run.reuse.run_id)
            if run.entry is not None:
                await connection.execute(audit.PSYCOPG, audit.values(run.entry))

    async def resume(
        self, key: RunKey, at: int, entry: Entry | None = None, once: StartKey | None = None
    ) -> Resumed | None:
        """Resume a failed run."""
        status, changed = await self._locked(rare.RESUME, {**_key(key), "at": at}, entry, once)
        if status is None:
            return None
        return Resumed(RunStatus.RUNNING if changed else status, changed=changed)

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete, skip, settle and claim."""
        values = _key(key) | _lease(lease)
        if finished is not None:
            code, message = finished.error or (None, None)
            values |= _step(finished.claim, finished.record) | {"event": completed_data(finished)}
            values |= {"code": code, "message": message}
            if finished.delivery is None and _is_one_step_on(onward):
                went_on = await self._go_on(values, onward)
                if went_on is not None:
                    if not went_on.claims:
                        await self.rest(key, lease.at)
                    return went_on
        values |= sql.moves(onward) | {"run_output": onward.output_payload}
        if finished is not None and finished.delivery is not None:
            rows = await self._finish_and_deliver(values, delivery_values(key, finished, lease.at))
        else:
            rows = await self._pool.execute(sql.ADVANCE if finished is None else sql.FINISH, values)
        if not rows:
            return Progress(None, recorded=False)
        status_before, status_after, has_waiting = rows[0][:3]
        if status_after is None:
            return Progress(RunStatus(status_before), recorded=False)
        moved_rows = [row[3:] for row in rows if row[3] is not None]
        progress = Progress(
            RunStatus(status_after),
            claims=tuple(Claim(row[0], row[3]) for row in moved_rows if row[1] == StepStatus.RUNNING),
            ready=tuple(row[0] for row in moved_rows if row[1] == StepStatus.PENDING and row[2] == 0),
            ended=status_before != status_after and RunStatus(status_after).over,
        )
        if has_waiting and not (progress.claims or progress.ready or RunStatus(status_after).over):
            await self.rest(key, lease.at)
        return await self._with_log(key.run_id, progress)

    async def _finish_and_deliver(
        self, values: Mapping[str, Any], delivery: Mapping[str, Any]
    ) -> list[tuple[Any, ...]]:
        """Finish a step and store its delivery: both, or neither when the claim was lost."""
        async with self._pool.connection() as connection, connection.transaction():
            rows = await (await connection.execute(sql.FINISH, values, prepare=True)).fetchall()
            if rows and rows[0][1] is not None:
                await connection.execute(_DELIVER, delivery)
            return rows

    async def _go_on(self, values: dict[str, Any], onward: Onward) -> Progress | None:
        """Finish a step and claim the next one. Returns None, without a write, when the run does not continue."""
        step, settled = next(iter(onward.settles.items()))
        rows = await self._pool.execute(sql.GO_ON, {**values, "next": step, "settled": settled})
        if not rows:
            return None
        attempt = rows[0][1]
        return Progress(RunStatus.RUNNING, claims=() if attempt is None else (Claim(step, attempt),))

    async def fail(self, key: RunKey, failed: Failed, at: int) -> Progress:
        """Fail a step and its run."""
        error = {"at": at, **_error(failed.code, failed.message)}
        rows = await self._pool.execute(sql.FAIL, {**_key(key), **_step(failed.claim, failed.record), **error})
        if not rows:
            return Progress(None, recorded=False)
        status_before, recorded = RunStatus(rows[0][0]), rows[0][1]
        run_ended = recorded and status_before in LIVE_RUNS
        return await self._with_log(
            key.run_id, Progress(RunStatus.FAILED if run_ended else status_before, recorded=recorded, ended=run_ended)
        )

    async def suspend(self, key: RunKey, suspension: Suspension, lease: Lease) -> bool:
        """End the attempt of a step that waits."""
        values = _key(key) | _lease(lease)
        async with self._pool.connection() as connection, connection.transaction():
            row = await (await connection.execute(sql.LOCK, values)).fetchone()
            if row is None:
                return False
            values |= suspension_values(suspension, failed=row[0] == RunStatus.FAILED)
            changed = await (await connection.execute(waits.SUSPEND, values)).fetchone()
            if changed is not None:
                await connection.execute(waits.REST, values)
        return changed is not None

    async def rest(self, key: RunKey, at: int) -> bool:
        """Let a run wait of which only waiting steps are left for now."""
        return (await self._locked(waits.REST, {**_key(key), "at": at}))[1]

    async def wake(self, at: int, limit: int, *, run_id: str | None = None) -> Sequence[WokenRun]:
        """Wake steps that are due."""
        while True:
            rows = await self._pool.execute(waits.WAKE, {"at": at, "limit": limit, "run_id": run_id})
            woken = [WokenRun(RunKey(*row[1:5]), row[5]) for row in rows if row[1] is not None]
            if woken or rows[0][0] < limit:
                return woken

    async def pause(self, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
        """Pause a run."""
        return await self._change(pauses.PAUSE, key, at, entry)

    async def unpause(self, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
        """Continue a paused run."""
        return await self._change(pauses.CONTINUE, key, at, entry)

    async def _change(self, statement: str, key: RunKey, at: int, entry: Entry | None) -> Paused | None:
        async with self._pool.connection() as connection, connection.transaction():
            return await pauses.change(connection, statement, key, at, entry)

    async def take_over(self, key: RunKey, holders: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
        """Recover steps from a dead worker."""
        expected = {
            "steps": [holder.step_id for holder in holders],
            "seen": [holder.attempt for holder in holders],
            "leases": [holder.lease_until for holder in holders],
        }
        rows = await self._pool.execute(sql.TAKE_OVER, {**_key(key), **_lease(lease), **expected})
        return tuple(Claim(*row) for row in rows)

    async def end(self, key: RunKey, code: str, message: str, at: int, *, overdue: bool = False) -> bool:
        """Fail a run for a reason outside its steps."""
        values = {**_key(key), **_error(code, message), "at": at, "overdue": overdue}
        _, changed, _ = await self._end_tree(sql.END, values, with_children=code in ENDS_CHILDREN)
        return await self._with_log(key.run_id, changed)

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run."""
        values = {"run_id": run_id, "tenant_id": tenant_id, "at": at}
        status, changed, children = await self._end_tree(sql.CANCEL, values, entry)
        if status is None:
            return None
        for child in children:
            await self._with_log(child, Cancelled(RunStatus.CANCELLED, changed=True))
        outcome = Cancelled(RunStatus.CANCELLED if changed else status, changed=changed, children=children)
        return await self._with_log(run_id, outcome)

    async def _end_tree(
        self, statement: str, values: Mapping[str, Any], entry: Entry | None = None, *, with_children: bool = True
    ) -> tuple[RunStatus | None, bool, tuple[str, ...]]:
        """End a run, and cancel the active runs that its steps started. Returns its previous status and their ids."""
        async with self._pool.connection() as connection, connection.transaction():
            status, changed, children = await trees.end_tree(connection, statement, values, with_children=with_children)
            if changed and entry is not None:
                await connection.execute(audit.PSYCOPG, audit.values(entry))
        return status, changed, tuple(children)

    async def renew(self, held_steps: Sequence[Held], lease: Lease) -> frozenset[Held]:
        """Extend leases."""
        values = {
            "worker_id": lease.worker_id,
            "until": lease.until,
            "runs": [step.run_id for step in held_steps],
            "steps": [step.step_id for step in held_steps],
            "attempts": [step.attempt for step in held_steps],
        }
        return frozenset(Held(*row) for row in await self._pool.execute(sql.RENEW, values))

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call."""
        return bool(await self._pool.execute(_KEEP_CALL, keep_values(key, call)))

    async def _rows(self, query: str, values: Mapping[str, Any]) -> Rows:
        return await self._pool.execute(for_postgres(query), values)

    async def _snapshot(self, first: str, second: str, values: Mapping[str, Any]) -> tuple[Rows, Rows]:
        return await self._pool.snapshot(for_postgres(first), for_postgres(second), values)

    async def _with_log(self, run_id: str, outcome: T) -> T:
        """Log the outcome of a run when a stored transition ended it."""
        if ended_run(outcome):
            try:
                log_ending(Ending(*(await self._pool.execute(_ENDING, {"run_id": run_id}))[0]))
            except HeadgateError as error:
                log.warning("run ended", run_id=run_id, problem=error.detail)
        return outcome

    async def _and_append(self, statement: str, values: Mapping[str, Any], entry: Entry) -> None:
        """Execute a statement and append its audit entry, in one transaction and one round trip.

        They are two statements because foreign keys are checked at the end of a statement, which holds the chain's
        lock.
        """
        async with self._pool.connection() as connection, connection.pipeline():
            await connection.execute("BEGIN", prepare=True)
            await connection.execute(statement, values, prepare=True)
            await connection.execute(audit.PSYCOPG, audit.values(entry), prepare=True)
            await connection.execute("COMMIT", prepare=True)

    async def _locked(
        self, statement: str, values: Mapping[str, Any], entry: Entry | None = None, once: StartKey | None = None
    ) -> tuple[RunStatus | None, bool]:
        """Lock a run, then change it. Returns its previous status, and whether it was changed."""
        async with self._pool.connection() as connection, connection.transaction():
            row = await (await connection.execute(sql.LOCK, values)).fetchone()
            if row is None:
                return None, False
            changed = await (await connection.execute(statement, values)).fetchone()
            if changed is not None:
                await _claim(connection, once, values["run_id"], values["at"])
            if changed is not None and entry is not None:
                await connection.execute(audit.PSYCOPG, audit.values(entry))
        return RunStatus(row[0]), changed is not None


async def _claim(connection: "AsyncConnection[Any]", once: StartKey | None, run_id: str, at: int) -> None:
    """Insert the idempotency key of a start. Raises `KeyTaken`."""
    if once is not None:
        keys.check(await (await connection.execute(keys.PSYCOPG, once.values(run_id, at))).fetchone())


def _is_one_step_on(onward: Onward) -> bool:
    """Whether exactly one step follows and nothing else is written."""
    return len(onward.claim) == 1 and onward.settles.keys() == {*onward.claim} and not onward.skip


def _key(key: RunKey) -> dict[str, Any]:
    return {"run_id": key.run_id, "tenant_id": key.tenant_id, "flow_id": key.flow_id, "version": key.version}


def _lease(lease: Lease) -> dict[str, Any]:
    return {"worker_id": lease.worker_id, "at": lease.at, "until": lease.until}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message, "event": failed_data(code, message)}


def _step(claim: Claim, record: StepRecord) -> dict[str, Any]:
    return {"step_id": claim.step_id, "attempt": claim.attempt} | {name: getattr(record, name) for name in _RECORD}
