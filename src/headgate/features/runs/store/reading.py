"""What `RunStore` reads: the same queries and values on every database."""

# ruff: noqa: S608 - only constants are inserted into the statement

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from headgate.features.runs.answered_calls import StoredCall
from headgate.features.runs.event_log import EventPage
from headgate.features.runs.states import LIVE_RUNS, RunStatus, StepStatus, sql_list
from headgate.features.runs.store import children, rows
from headgate.features.runs.store.calls import LOAD_CALLS_SQL, calls_of, load_values
from headgate.features.runs.terms import terms_of
from headgate.features.runs.transitions import (
    ChildRun,
    ChildStates,
    LiveRun,
    PastTurn,
    ReadRun,
    RunKey,
    StoredRun,
    Straggler,
    clock,
)
from headgate.features.runs.waiting import OverdueRun, RunWait, WaitReason

Rows = Sequence[Sequence[Any]]


class StoreReads(ABC):
    """Reads of a database; each says how it executes the queries."""

    @abstractmethod
    async def _rows(self, query: str, values: Mapping[str, Any]) -> Rows:
        """Return the rows of one query. Raises `Unavailable`."""

    @abstractmethod
    async def _snapshot(self, first: str, second: str, values: Mapping[str, Any]) -> tuple[Rows, Rows]:
        """Return the rows of two queries in one snapshot. Raises `Unavailable`."""

    async def next_due(self) -> int | None:
        """When the next waiting step is due."""
        due: int | None = (await self._rows(rows.NEXT_DUE_SQL, {}))[0][0]
        return due

    async def overdue(self, at: int, limit: int) -> Sequence[OverdueRun]:
        """Runs that are past their deadline."""
        overdue = await self._rows(rows.OVERDUE_SQL, {"at": at, "limit": limit})
        return [OverdueRun(RunKey(*row[:4]), row[4]) for row in overdue]

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """Return the answered calls of a step."""
        return calls_of(await self._rows(LOAD_CALLS_SQL, load_values(key, step_id)))

    async def is_cancelled(self, run_id: str) -> bool:
        """Whether the run must have no further effect."""
        return await self.status(run_id) in {None, RunStatus.CANCELLED}

    async def status(self, run_id: str) -> RunStatus | None:
        """Return the status of a run."""
        statuses = await self._rows(rows.STATUS_SQL, {"run_id": run_id})
        return RunStatus(statuses[0][0]) if statuses else None

    async def read(self, run_id: str, tenant_id: str) -> ReadRun | None:
        """Return a run for display."""
        values = {"run_id": run_id, "tenant_id": tenant_id}
        run, steps = await self._snapshot(rows.READ_RUN_SQL, rows.READ_STEPS_SQL, values)
        return rows.read_run_of(run[0] if run else None, steps)

    async def read_all(self, run_ids: Sequence[str], tenant_id: str) -> Sequence[ReadRun]:
        """Return runs for display."""
        values = {"run_ids": list(run_ids), "tenant_id": tenant_id}
        return rows.read_runs_of(
            run_ids, *await self._snapshot(rows.READ_RUNS_SQL, rows.READ_STEPS_OF_RUNS_SQL, values)
        )

    async def events_after(self, run_id: str, tenant_id: str, seq: int, limit: int) -> EventPage | None:
        """Return the events of a run after a number."""
        values = {"run_id": run_id, "tenant_id": tenant_id, "after": seq, "limit": limit}
        return rows.events_of(await self._rows(rows.EVENTS_SQL, values))

    async def load(self, run_id: str) -> StoredRun | None:
        """Return a run and its steps."""
        run, steps = await self._snapshot(rows.LOAD_RUN_SQL, rows.LOAD_STEPS_SQL, {"run_id": run_id})
        return rows.stored_run_of(run[0] if run else None, steps)

    async def live_runs(self) -> Sequence[LiveRun]:
        """Every active run."""
        return rows.live_runs_of(await self._rows(rows.LIVE_RUNS_SQL, {}))

    async def orphans(self) -> Sequence[RunKey]:
        """Waiting runs whose flow is deleted."""
        return [RunKey(*row) for row in await self._rows(rows.ORPHANS_SQL, {})]

    async def worked(self, run_id: str, *, since: int, until: int) -> int:
        """Return the execution time of a run in microseconds."""
        return rows.time_worked(await self._rows(rows.WORK_SQL, {"run_id": run_id, "since": since}), until=until)

    async def stragglers(self, *, since: int, run_id: str | None = None) -> Sequence[Straggler]:
        """Return running steps of failed runs."""
        query = rows.STRAGGLERS_SQL if run_id is None else rows.STRAGGLERS_OF_RUN_SQL
        return rows.stragglers_of(await self._rows(query, {"since": since, "run_id": run_id}))

    async def children(self, key: RunKey, step_id: str, first: int, stop: int) -> Sequence[ChildRun]:
        """Return runs that a step started."""
        values = children.range_values(key, step_id, first, stop)
        return children.children_of(await self._rows(children.CHILDREN_SQL, values))

    async def run_wait(self, run_id: str, tenant_id: str, *, longest_seconds: float | None = None) -> RunWait | None:
        """Return what a run waits for."""
        return run_wait_of(await self._rows(RUN_WAIT_SQL, wait_values(run_id, tenant_id, longest_seconds)))

    async def stops_before(self, run_id: str, step_id: str) -> bool:
        """Whether the run stops before the first attempt of a step; an interrupted first attempt is repeated."""
        terms = await self._rows(rows.STOPS_SQL, {"run_id": run_id, "step_id": step_id})
        stops = terms_of(terms[0][0]).stops if terms else None
        return stops is not None and stops.before(step_id)

    async def child_states(self, key: RunKey, step_id: str) -> ChildStates:
        """Return the states of a step's runs."""
        values = children.range_values(key, step_id, 0, 0)
        last, open_ = await self._snapshot(children.LAST_SQL, children.OPEN_SQL, values)
        return children.child_states(last[0][0], open_)

    async def past_turns(self, key: RunKey, session_id: str, user_id: str | None, limit: int) -> Sequence[PastTurn]:
        """Return earlier turns of a user's chat session."""
        values = {
            "run_id": key.run_id,
            "tenant_id": key.tenant_id,
            "flow_id": key.flow_id,
            "session_id": session_id,
            "user_id": user_id,
            "limit": limit,
        }
        return [PastTurn(*row) for row in reversed(await self._rows(rows.PAST_TURNS_SQL, values))]


RUN_WAIT_SQL = (
    "WITH RECURSIVE tree(id, status) AS ("
    "SELECT id, status FROM flow_runs WHERE id = :run_id AND tenant_id = :tenant_id"
    f" AND status IN {sql_list(LIVE_RUNS)}"
    " UNION ALL SELECT r.id, r.status FROM flow_runs r JOIN tree t ON r.parent_run_id = t.id"
    f" WHERE r.tenant_id = :tenant_id AND r.status <> 'completed' AND r.status IN {sql_list(LIVE_RUNS)})"
    " SELECT s.waits_for, s.due_at, s.flow_run_id, s.flow_id, s.step_id FROM flow_step_results s"
    f" JOIN tree t ON t.id = s.flow_run_id WHERE s.status = '{StepStatus.WAITING}'"
    f" AND (s.waits_for IN ('{WaitReason.APPROVAL}', '{WaitReason.EVENT}', '{WaitReason.BREAKPOINT}')"
    f" OR (s.waits_for IN ('{WaitReason.TIME}', '{WaitReason.RETRY}') AND s.due_at > :later))"
    " AND s.answered_at IS NULL AND (s.due_at IS NULL OR s.due_at > :at)"
    f" AND NOT EXISTS (SELECT 1 FROM tree o WHERE o.status <> '{RunStatus.WAITING}')"
    " ORDER BY s.waits_for, s.flow_run_id, s.step_order LIMIT 1"
)
"""Nothing is returned while any run of the tree continues by itself."""


_NEVER = 2**63 - 1


def wait_values(run_id: str, tenant_id: str, longest_seconds: float | None) -> dict[str, Any]:
    """Return the parameters of the query."""
    at = clock()
    later = _NEVER if longest_seconds is None else at + round(longest_seconds * 1_000_000)
    return {"run_id": run_id, "tenant_id": tenant_id, "at": at, "later": later}


def run_wait_of(rows: Sequence[Sequence[Any]]) -> RunWait | None:
    """Return the wait of a row of the query."""
    return RunWait(WaitReason(rows[0][0]), *rows[0][1:]) if rows else None
