"""`RunStore` on PostgreSQL: one prepared statement a transition, on a small pool; nothing is held between two."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from headgate.features.audit import statements as audit
from headgate.features.audit.chain import Entry
from headgate.features.idempotency import keys
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.errors import SourceGone
from headgate.features.runs.event_log import EventPage
from headgate.features.runs.quotas.usage import check_in
from headgate.features.runs.states import LIVE_RUNS, RunStatus, StepStatus
from headgate.features.runs.store import postgres_resumes as rare
from headgate.features.runs.store import postgres_statements as sql
from headgate.features.runs.store.calls import KEEP_CALL_SQL, LOAD_CALLS_SQL, calls_of, keep_values, load_values
from headgate.features.runs.store.endings import ENDING_SQL, ended_run, log_ending
from headgate.features.runs.store.postgres_creation import CREATE, CREATE_FROM, KEEP_SOURCES, creation_values
from headgate.features.runs.store.postgres_pool import PostgresPool
from headgate.features.runs.store.rows import (
    DELIVER_SQL,
    EVENTS_SQL,
    LIVE_RUNS_SQL,
    LOAD_RUN_SQL,
    LOAD_STEPS_SQL,
    READ_RUN_SQL,
    READ_STEPS_SQL,
    STRAGGLERS_OF_RUN_SQL,
    STRAGGLERS_SQL,
    WORK_SQL,
    completed_data,
    delivery_values,
    events_of,
    failed_data,
    for_postgres,
    live_runs_of,
    read_run_of,
    stored_run_of,
    stragglers_of,
    time_worked,
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
    LiveRun,
    NewRun,
    Onward,
    PastTurn,
    Progress,
    ReadRun,
    Resumed,
    RunKey,
    StepRecord,
    StoredRun,
    Straggler,
)
from headgate.foundation.database import PROBES
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

if TYPE_CHECKING:  # named without importing psycopg
    from psycopg import AsyncConnection

_LOAD_RUN, _LOAD_STEPS = for_postgres(LOAD_RUN_SQL), for_postgres(LOAD_STEPS_SQL)
_EVENTS = for_postgres(EVENTS_SQL)
_ENDING = for_postgres(ENDING_SQL)
_DELIVER = for_postgres(DELIVER_SQL)
_READ_RUN, _READ_STEPS = for_postgres(READ_RUN_SQL), for_postgres(READ_STEPS_SQL)
_WORK = for_postgres(WORK_SQL)
_STRAGGLERS, _STRAGGLERS_OF_RUN = for_postgres(STRAGGLERS_SQL), for_postgres(STRAGGLERS_OF_RUN_SQL)
_KEEP_CALL, _LOAD_CALLS = for_postgres(KEEP_CALL_SQL), for_postgres(LOAD_CALLS_SQL)
_RECORD = tuple(field.name for field in fields(StepRecord))
T = TypeVar("T", bound=Progress | Cancelled | bool)
log = get_logger(__name__)


class PostgresRunStore:
    """Runs in PostgreSQL.

    Args:
        url: A libpq URL of a migrated database.
        pool_size: Most connections; each is out only for the length of one statement.
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
        """Connections in use this moment."""
        return self._pool.connections_out

    @property
    def write_wait_seconds(self) -> float:
        """How long who waits longest has waited for a connection."""
        return self._pool.wait_seconds

    async def prove_write(self) -> None:
        """Write something that means nothing."""
        await self._pool.execute(PROBES["postgresql"], {})

    async def create(self, run: NewRun, lease: Lease) -> None:
        """Insert a run and its steps."""
        values = _key(run.key) | _lease(lease) | creation_values(run)
        if run.once is not None or run.reuse is not None or run.bounds:
            await self._create_checked(values, run)
        elif run.entry is None:
            await self._pool.execute(CREATE, values)
        else:
            await self._and_append(CREATE, values, run.entry)

    async def _create_checked(self, values: Mapping[str, Any], run: NewRun) -> None:
        """Insert a run that another start, the deletion of its source or a quota may forbid."""
        async with self._pool.connection() as connection, connection.transaction():
            await _claim(connection, run.once, run.key.run_id, values["at"])
            await check_in(connection, run.bounds, run.key.tenant_id, values["at"])
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
        """Let a failed run go on."""
        status, changed = await self._locked(rare.RESUME, {**_key(key), "at": at}, entry, once)
        if status is None:
            return None
        return Resumed(RunStatus.RUNNING if changed else status, changed=changed)

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete, skip, settle and claim."""
        values = _key(key) | _lease(lease)
        if finished is not None:
            values |= _step(finished.claim, finished.record) | {"event": completed_data(finished)}
            if finished.delivery is None and _is_one_step_on(onward):
                went_on = await self._go_on(values, onward)
                if went_on is not None:
                    return went_on
        values |= sql.moves(onward) | {"run_output": onward.output_payload}
        if finished is not None and finished.delivery is not None:
            rows = await self._finish_and_deliver(values, delivery_values(key, finished, lease.at))
        else:
            rows = await self._pool.execute(sql.ADVANCE if finished is None else sql.FINISH, values)
        if not rows:
            return Progress(None, recorded=False)
        before, after = rows[0][0], rows[0][1]
        if after is None:
            return Progress(RunStatus(before), recorded=False)
        moved = [row[2:] for row in rows if row[2] is not None]
        progress = Progress(
            RunStatus(after),
            claims=tuple(Claim(row[0], row[3]) for row in moved if row[1] == StepStatus.RUNNING),
            ready=tuple(row[0] for row in moved if row[1] == StepStatus.PENDING and row[2] == 0),
            ended=before != after and RunStatus(after).over,
        )
        return await self._with_log(key.run_id, progress)

    async def _finish_and_deliver(
        self, values: Mapping[str, Any], delivery: Mapping[str, Any]
    ) -> list[tuple[Any, ...]]:
        """Finish a step and write down what is to be sent after it: both, or neither when the step is not ours."""
        async with self._pool.connection() as connection, connection.transaction():
            rows = await (await connection.execute(sql.FINISH, values, prepare=True)).fetchall()
            if rows and rows[0][1] is not None:
                await connection.execute(_DELIVER, delivery)
            return rows

    async def _go_on(self, values: dict[str, Any], onward: Onward) -> Progress | None:
        """Finish a step, claim the one after it. None when the run ends, or may not go on: nothing was written then."""
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
        before, recorded = RunStatus(rows[0][0]), rows[0][1]
        ended = recorded and before in LIVE_RUNS
        return await self._with_log(
            key.run_id, Progress(RunStatus.FAILED if ended else before, recorded=recorded, ended=ended)
        )

    async def take_over(self, key: RunKey, held: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
        """Take steps from a dead worker."""
        seen = {
            "steps": [holder.step_id for holder in held],
            "seen": [holder.attempt for holder in held],
            "leases": [holder.lease_until for holder in held],
        }
        rows = await self._pool.execute(sql.TAKE_OVER, {**_key(key), **_lease(lease), **seen})
        return tuple(Claim(*row) for row in rows)

    async def end(self, key: RunKey, code: str, message: str, at: int) -> bool:
        """Fail a run from outside."""
        _, changed = await self._locked(sql.END, {**_key(key), **_error(code, message), "at": at})
        return await self._with_log(key.run_id, changed)

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run."""
        status, changed = await self._locked(sql.CANCEL, {"run_id": run_id, "tenant_id": tenant_id, "at": at}, entry)
        if status is None:
            return None
        return await self._with_log(run_id, Cancelled(RunStatus.CANCELLED if changed else status, changed=changed))

    async def renew(self, held: Sequence[Held], lease: Lease) -> frozenset[Held]:
        """Lengthen leases."""
        values = {
            "worker_id": lease.worker_id,
            "until": lease.until,
            "runs": [step.run_id for step in held],
            "steps": [step.step_id for step in held],
            "attempts": [step.attempt for step in held],
        }
        return frozenset(Held(*row) for row in await self._pool.execute(sql.RENEW, values))

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call."""
        return bool(await self._pool.execute(_KEEP_CALL, keep_values(key, call)))

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """The answered calls of a step."""
        return calls_of(await self._pool.execute(_LOAD_CALLS, load_values(key, step_id)))

    async def is_cancelled(self, run_id: str) -> bool:
        """Whether the run may have no effect any more."""
        return await self.status(run_id) in {None, RunStatus.CANCELLED}

    async def status(self, run_id: str) -> RunStatus | None:
        """Where a run is."""
        rows = await self._pool.execute(sql.STATUS, {"run_id": run_id})
        return RunStatus(rows[0][0]) if rows else None

    async def events_after(self, run_id: str, tenant_id: str, seq: int, limit: int) -> EventPage | None:
        """Events of a run behind a number."""
        values = {"run_id": run_id, "tenant_id": tenant_id, "after": seq, "limit": limit}
        return events_of(await self._pool.execute(_EVENTS, values))

    async def load(self, run_id: str) -> StoredRun | None:
        """A run and its steps, as they were at one moment."""
        return stored_run_of(*await self._pool.snapshot(_LOAD_RUN, _LOAD_STEPS, {"run_id": run_id}))

    async def read(self, run_id: str, tenant_id: str) -> ReadRun | None:
        """A run as it is shown, at one moment."""
        return read_run_of(
            *await self._pool.snapshot(_READ_RUN, _READ_STEPS, {"run_id": run_id, "tenant_id": tenant_id})
        )

    async def live_runs(self) -> Sequence[LiveRun]:
        """Every run that is not over."""
        return live_runs_of(await self._pool.execute(LIVE_RUNS_SQL, {}))

    async def worked(self, run_id: str, *, since: int, until: int) -> int:
        """Microseconds in which a worker was at a step of a run."""
        return time_worked(await self._pool.execute(_WORK, {"run_id": run_id, "since": since}), until=until)

    async def stragglers(self, *, since: int, run_id: str | None = None) -> Sequence[Straggler]:
        """Running steps of failed runs."""
        query = _STRAGGLERS if run_id is None else _STRAGGLERS_OF_RUN
        return stragglers_of(await self._pool.execute(query, {"since": since, "run_id": run_id}))

    async def past_turns(self, key: RunKey, session_id: str, user_id: str | None, limit: int) -> Sequence[PastTurn]:
        """Earlier turns of a person's chat session."""
        wanted = {"session_id": session_id, "user_id": user_id, "limit": limit}
        rows = await self._pool.execute(sql.PAST_TURNS, {**_key(key), **wanted})
        return [PastTurn(*row) for row in reversed(rows)]

    async def _with_log(self, run_id: str, outcome: T) -> T:
        """Log what the run came to where a transition, which is stored, is what ended it."""
        if ended_run(outcome):
            try:
                log_ending(Ending(*(await self._pool.execute(_ENDING, {"run_id": run_id}))[0]))
            except HeadgateError as error:
                log.warning("run ended", run_id=run_id, problem=error.detail)
        return outcome

    async def _and_append(self, statement: str, values: Mapping[str, Any], entry: Entry) -> None:
        """A statement, then the entry of the audit log that goes with it, in one transaction and one round trip.

        Not one statement: its foreign keys are checked when it ends, and would be while the chain's end is locked.
        """
        async with self._pool.connection() as connection, connection.pipeline():
            await connection.execute("BEGIN", prepare=True)
            await connection.execute(statement, values, prepare=True)
            await connection.execute(audit.PSYCOPG, audit.values(entry), prepare=True)
            await connection.execute("COMMIT", prepare=True)

    async def _locked(
        self, statement: str, values: Mapping[str, Any], entry: Entry | None = None, once: StartKey | None = None
    ) -> tuple[RunStatus | None, bool]:
        """Lock a run, then change it: its status before, and whether it was changed."""
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
    """Whether one step follows and nothing else is to be written."""
    return len(onward.claim) == 1 and onward.settles.keys() == {*onward.claim} and not onward.skip


def _key(key: RunKey) -> dict[str, Any]:
    return {"run_id": key.run_id, "tenant_id": key.tenant_id, "flow_id": key.flow_id, "version": key.version}


def _lease(lease: Lease) -> dict[str, Any]:
    return {"worker_id": lease.worker_id, "at": lease.at, "until": lease.until}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message, "event": failed_data(code, message)}


def _step(claim: Claim, record: StepRecord) -> dict[str, Any]:
    return {"step_id": claim.step_id, "attempt": claim.attempt} | {name: getattr(record, name) for name in _RECORD}
