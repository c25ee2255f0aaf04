"""What a run waits for, itself or in the runs that its steps started: one query for both databases."""

# ruff: noqa: S608 - only constants are inserted into the statement

from collections.abc import Sequence
from typing import Any

from headgate.features.runs.states import LIVE_RUNS, RunStatus, StepStatus, sql_list
from headgate.features.runs.store.rows import for_postgres
from headgate.features.runs.transitions import clock
from headgate.features.runs.waiting import RunWait, WaitReason

RUN_WAIT_SQL = (
    "WITH RECURSIVE tree(id, status) AS ("
    "SELECT id, status FROM flow_runs WHERE id = :run_id AND tenant_id = :tenant_id"
    f" AND status IN {sql_list(LIVE_RUNS)}"
    " UNION ALL SELECT r.id, r.status FROM flow_runs r JOIN tree t ON r.parent_run_id = t.id"
    f" WHERE r.tenant_id = :tenant_id AND r.status <> 'completed' AND r.status IN {sql_list(LIVE_RUNS)})"
    " SELECT s.waits_for, s.due_at, s.flow_run_id, s.flow_id, s.step_id FROM flow_step_results s"
    f" JOIN tree t ON t.id = s.flow_run_id WHERE s.status = '{StepStatus.WAITING}'"
    f" AND (s.waits_for IN ('{WaitReason.APPROVAL}', '{WaitReason.EVENT}')"
    f" OR (s.waits_for IN ('{WaitReason.TIME}', '{WaitReason.RETRY}') AND s.due_at > :later))"
    " AND s.answered_at IS NULL AND (s.due_at IS NULL OR s.due_at > :at)"
    f" AND NOT EXISTS (SELECT 1 FROM tree o WHERE o.status <> '{RunStatus.WAITING}')"
    " ORDER BY s.waits_for, s.flow_run_id, s.step_order LIMIT 1"
)
"""Nothing is returned while any run of the tree continues by itself."""
RUN_WAIT_POSTGRES = for_postgres(RUN_WAIT_SQL)


_NEVER = 2**63 - 1


def wait_values(run_id: str, tenant_id: str, longest_seconds: float | None) -> dict[str, Any]:
    """Return the parameters of the query."""
    at = clock()
    later = _NEVER if longest_seconds is None else at + round(longest_seconds * 1_000_000)
    return {"run_id": run_id, "tenant_id": tenant_id, "at": at, "later": later}


def run_wait_of(rows: Sequence[Sequence[Any]]) -> RunWait | None:
    """Return the wait of a row of the query."""
    return RunWait(WaitReason(rows[0][0]), *rows[0][1:]) if rows else None
