"""What the distributed engine writes and asks besides: which runs were handed to a queue, and when."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from headgate.features.jobs.leases import TIMER
from headgate.features.runs.states import ATTEMPT_MOVES, LIVE_RUNS, AttemptStatus, RunStatus, sources, sql_list
from headgate.features.runs.steps.parking import PARKED, PARKED_MESSAGE
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.postgres_statements import BEGIN
from headgate.features.runs.transitions import Claim, Lease, RunKey, StoredRun

_NOT_SENT = f"""
UPDATE flow_runs SET dispatched_at = NULL WHERE id = %(run_id)s AND status IN {sql_list(LIVE_RUNS)} RETURNING 1
"""  # noqa: S608 - states
_NEXT = f"""
UPDATE flow_runs SET dispatched_at = %(at)s, dispatches = dispatches + 1
WHERE id = %(run_id)s AND dispatches = %(seen)s AND status IN {sql_list(LIVE_RUNS)}
RETURNING dispatches
"""  # noqa: S608
_SENT = f"""
SELECT r.id, r.status, r.dispatched_at, r.dispatches, max(s.started_at) FILTER (WHERE s.status = 'running'),
    max(s.finished_at)
FROM flow_runs r LEFT JOIN flow_step_results s ON s.flow_run_id = r.id AND r.status = 'running'
WHERE r.id = ANY(%(runs)s) AND r.status IN {sql_list(LIVE_RUNS)}
GROUP BY r.id
"""  # noqa: S608
_PICK_UP = f"""
UPDATE flow_runs SET pickups = pickups + 1 WHERE id = %(run_id)s AND status IN {sql_list(LIVE_RUNS)} RETURNING pickups
"""  # noqa: S608
_PUT_BACK = "UPDATE flow_runs SET pickups = pickups - 1 WHERE id = %(run_id)s AND pickups > 0 RETURNING 1"
_PARK = f"""
WITH run AS (
    SELECT id FROM flow_runs WHERE id = %(run_id)s AND tenant_id = %(tenant_id)s FOR NO KEY UPDATE
), parked AS (
    UPDATE flow_step_results s SET worker_id = '{TIMER}', lease_until = %(until)s
    FROM run
    WHERE s.flow_run_id = run.id AND s.flow_id = %(flow_id)s AND s.step_id = %(step_id)s AND s.attempts = %(attempt)s
        AND s.worker_id = %(worker_id)s AND s.status = 'running'
    RETURNING s.step_id
), closed AS (
    UPDATE flow_step_attempts a
    SET status = 'retried', error_code = '{PARKED}', error_message = '{PARKED_MESSAGE}', finished_at = %(at)s
    FROM parked
    WHERE a.flow_run_id = %(run_id)s AND a.flow_id = %(flow_id)s AND a.step_id = parked.step_id
        AND a.attempt_no = %(attempt)s AND a.status IN {sql_list(sources(ATTEMPT_MOVES, AttemptStatus.RETRIED))}
)
SELECT 1 FROM parked
"""  # noqa: S608
_COUNT = "SELECT dispatches FROM flow_runs WHERE id = %(run_id)s"


@dataclass(frozen=True, slots=True)
class Sent:
    """How a live run stands with its queue. Times are microseconds in UTC."""

    run_id: str
    status: RunStatus
    dispatched_at: int | None
    dispatches: int
    claimed_at: int | None
    """When the last of its running steps was claimed."""
    settled_at: int | None
    """When one of its steps was last done."""


class PostgresDispatchStore(PostgresRunStore):
    """Runs in PostgreSQL, and what is known of their messages."""

    async def begin(self, key: RunKey, step_id: str, lease: Lease) -> StoredRun | None:
        """Claim the one step that a new run can begin with. None when there is more to be known of the run.

        The run comes back without its steps: nothing is settled in it.
        """
        rows = await self._pool.execute(BEGIN, {**asdict(key), **asdict(lease), "step_id": step_id})
        if not rows:
            return None
        user_id, session_id, trace_parent, given = rows[0]
        return StoredRun(
            key=key,
            status=RunStatus.RUNNING,
            user_id=user_id,
            session_id=session_id,
            input_payload=given,
            steps={},
            trace_parent=trace_parent,
            started_at=lease.at,
        )

    async def not_sent(self, run_id: str) -> None:
        """The message could not be sent: whoever sweeps next is to send it."""
        await self._pool.execute(_NOT_SENT, {"run_id": run_id})

    async def next_dispatch(self, run_id: str, seen: int, at: int) -> int | None:
        """The number of the next sending. None when another was quicker, or the run is over."""
        rows = await self._pool.execute(_NEXT, {"run_id": run_id, "seen": seen, "at": at})
        return rows[0][0] if rows else None

    async def pick_up(self, run_id: str) -> int | None:
        """Record that a worker holds a message of the run, before it does anything else with it.

        Returns how often that happened since a worker last claimed a step of the run, without what was put back; None
        when the run is over.
        """
        rows = await self._pool.execute(_PICK_UP, {"run_id": run_id})
        return rows[0][0] if rows else None

    async def park(self, key: RunKey, claim: Claim, lease: Lease) -> bool:
        """Let a step wait without a worker until the lease ends. Its attempt ends; the next one begins then.

        False when the attempt is not the step's any more.
        """
        return bool(await self._pool.execute(_PARK, {**asdict(key), **asdict(lease), **asdict(claim)}))

    async def put_back(self, run_id: str) -> None:
        """A worker that picked a message up has outlived it: that says nothing against the run."""
        await self._pool.execute(_PUT_BACK, {"run_id": run_id})

    async def dispatches(self, run_id: str) -> int:
        """How often work on a run was handed to a queue."""
        rows = await self._pool.execute(_COUNT, {"run_id": run_id})
        return rows[0][0] if rows else 0

    async def sent(self, run_ids: Sequence[str]) -> list[Sent]:
        """How these runs stand with their queues; those that are over are left out."""
        rows = await self._pool.execute(_SENT, {"runs": list(run_ids)}) if run_ids else []
        return [Sent(row[0], RunStatus(row[1]), *row[2:]) for row in rows]
