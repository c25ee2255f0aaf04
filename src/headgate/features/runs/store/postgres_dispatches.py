"""Storage of the distributed engine: when and how often runs were dispatched to a queue."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from headgate.features.runs.states import ACTIVE_RUNS, LIVE_RUNS, RunStatus, sql_list
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.postgres_statements import BEGIN
from headgate.features.runs.transitions import Lease, RunKey, StoredRun

_NOT_SENT = f"""
UPDATE flow_runs SET dispatched_at = NULL WHERE id = %(run_id)s AND status IN {sql_list(LIVE_RUNS)} RETURNING 1
"""  # noqa: S608 - states
_NEXT = f"""
UPDATE flow_runs SET dispatched_at = %(at)s, dispatches = dispatches + 1
WHERE id = %(run_id)s AND dispatches = %(seen)s AND status IN {sql_list(ACTIVE_RUNS)}
RETURNING dispatches
"""  # noqa: S608
_SENT = f"""
SELECT r.id, r.status, r.dispatched_at, r.dispatches, max(s.started_at) FILTER (WHERE s.status = 'running'),
    max(s.finished_at)
FROM flow_runs r LEFT JOIN flow_step_results s ON s.flow_run_id = r.id AND r.status = 'running'
WHERE r.id = ANY(%(runs)s) AND r.status IN {sql_list(ACTIVE_RUNS)}
GROUP BY r.id
"""  # noqa: S608
_PICK_UP = f"""
UPDATE flow_runs SET pickups = pickups + 1 WHERE id = %(run_id)s AND status IN {sql_list(LIVE_RUNS)} RETURNING pickups
"""  # noqa: S608
_PUT_BACK = "UPDATE flow_runs SET pickups = pickups - 1 WHERE id = %(run_id)s AND pickups > 0 RETURNING 1"
_COUNT = "SELECT dispatches FROM flow_runs WHERE id = %(run_id)s"


@dataclass(frozen=True, slots=True)
class Sent:
    """Dispatch state of a live run. Times are microseconds in UTC."""

    run_id: str
    status: RunStatus
    dispatched_at: int | None
    dispatches: int
    claimed_at: int | None
    """When its latest running step was claimed."""
    settled_at: int | None
    """When its latest step was settled."""


class PostgresDispatchStore(PostgresRunStore):
    """Storage of runs in PostgreSQL with the state of their messages."""

    async def begin(self, key: RunKey, step_id: str, lease: Lease) -> StoredRun | None:
        """Claim the only first step of a new run. Returns None when the run's rows have to be read.

        The run is returned without its steps: none is settled.
        """
        rows = await self._pool.execute(BEGIN, {**asdict(key), **asdict(lease), "step_id": step_id})
        if not rows:
            return None
        user_id, session_id, trace_parent, run_input, visitor, parent_run_id, terms = rows[0]
        return StoredRun(
            key=key,
            status=RunStatus.RUNNING,
            user_id=user_id,
            session_id=session_id,
            input_payload=run_input,
            steps={},
            trace_parent=trace_parent,
            started_at=lease.at,
            visitor=visitor,
            parent_run_id=parent_run_id,
            terms=terms,
        )

    async def not_sent(self, run_id: str) -> None:
        """Record that the message could not be sent, for the next sweep."""
        await self._pool.execute(_NOT_SENT, {"run_id": run_id})

    async def next_dispatch(self, run_id: str, expected: int, at: int) -> int | None:
        """Return the number of the next dispatch. None when another process was faster, or the run is over."""
        rows = await self._pool.execute(_NEXT, {"run_id": run_id, "seen": expected, "at": at})
        return rows[0][0] if rows else None

    async def pick_up(self, run_id: str) -> int | None:
        """Record that a worker received a message of the run, before any work.

        Returns how often that happened since a worker last claimed a step of the run, without reverted counts; None
        when the run is over.
        """
        rows = await self._pool.execute(_PICK_UP, {"run_id": run_id})
        return rows[0][0] if rows else None

    async def put_back(self, run_id: str) -> None:
        """Revert the count of a pickup that the worker survived."""
        await self._pool.execute(_PUT_BACK, {"run_id": run_id})

    async def dispatches(self, run_id: str) -> int:
        """Return how often work on a run was dispatched to a queue."""
        rows = await self._pool.execute(_COUNT, {"run_id": run_id})
        return rows[0][0] if rows else 0

    async def sent(self, run_ids: Sequence[str]) -> list[Sent]:
        """Return the dispatch state of these runs, without those that are over."""
        rows = await self._pool.execute(_SENT, {"runs": list(run_ids)}) if run_ids else []
        return [Sent(row[0], RunStatus(row[1]), *row[2:]) for row in rows]
