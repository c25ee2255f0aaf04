"""Runs that steps of other runs started: queries for both databases, and the wake of the step that waits for one."""

# ruff: noqa: S608 - only constants are inserted into the statements

from collections.abc import Sequence
from typing import Any

from headgate.features.runs.errors import ParentGone, ParentPaused
from headgate.features.runs.states import LIVE_RUNS, RunStatus, StepStatus, sql_list
from headgate.features.runs.transitions import ChildRun, ChildStates, Parent, RunKey

_OF_STEP = "r.parent_run_id = :run_id AND r.parent_step_id = :step_id AND r.tenant_id = :tenant_id"
CHILDREN_SQL = (
    "SELECT r.id, r.tenant_id, r.flow_id, r.version, r.parent_iteration, r.status, r.error_code, r.error_message,"
    " r.output_payload, s.output_payload, (SELECT max(m.classification) FROM flow_step_results m"
    " WHERE m.flow_run_id = r.id AND m.flow_id = r.flow_id),"
    " (SELECT f.name FROM flows f WHERE f.id = r.flow_id AND f.tenant_id = r.tenant_id),"
    " CASE WHEN r.status = 'failed' THEN (SELECT x.step_id FROM flow_step_results x WHERE x.flow_run_id = r.id"
    " AND x.flow_id = r.flow_id AND x.status = 'failed' ORDER BY x.finished_at, x.step_id LIMIT 1) END"
    " FROM flow_runs r LEFT JOIN flow_step_results s"
    " ON s.flow_run_id = r.id AND s.flow_id = r.flow_id AND s.step_id = json_extract(r.output_payload, '$.step_ids[0]')"
    f" WHERE {_OF_STEP} AND r.parent_iteration >= :first AND r.parent_iteration < :stop ORDER BY r.parent_iteration"
)
OPEN_SQL = (
    "SELECT r.parent_iteration, r.id, r.status FROM flow_runs r"
    f" WHERE {_OF_STEP} AND r.status <> 'completed' ORDER BY r.parent_iteration"
)
"""Served by the partial index `ix_flow_runs_parent_open`."""
LAST_SQL = f"SELECT max(r.parent_iteration) FROM flow_runs r WHERE {_OF_STEP}"
LIVE_CHILDREN_SQL = (
    "SELECT id FROM flow_runs WHERE parent_run_id = :run_id AND tenant_id = :tenant_id AND status <> 'completed'"
    f" AND status IN {sql_list(LIVE_RUNS)} ORDER BY id"
)
WAKE_PARENT_SQL = (
    "UPDATE flow_step_results SET answered_at = :at,"
    f" due_at = CASE WHEN status = '{StepStatus.WAITING}' THEN :at ELSE due_at END"
    " WHERE flow_run_id = (SELECT parent_run_id FROM flow_runs WHERE id = :run_id)"
    " AND step_id = (SELECT parent_step_id FROM flow_runs WHERE id = :run_id)"
)
"""In the transaction that ends a run: the step that started it is due. Does nothing for a run that a user started."""
RUNS_SQL = (
    "SELECT r.status FROM flow_step_results s JOIN flow_runs r ON r.id = s.flow_run_id AND r.flow_id = s.flow_id"
    " WHERE s.flow_run_id = :parent_run_id AND s.step_id = :parent_step_id AND s.tenant_id = :tenant_id"
    " AND s.attempts = :parent_attempt AND s.status = 'running' AND r.status IN ('running', 'paused')"
)
"""The run of a step that may start runs: its attempt is the current one, and its run is neither over nor cancelled."""


def children_of(rows: Sequence[Sequence[Any]]) -> list[ChildRun]:
    """Return the runs of rows of `CHILDREN_SQL`."""
    return [ChildRun(RunKey(*row[:4]), row[4], RunStatus(row[5]), *row[6:]) for row in rows]


def child_states(last: int | None, rows: Sequence[Sequence[Any]]) -> ChildStates:
    """Return the states of a step's runs."""
    return ChildStates(
        started=0 if last is None else last + 1, open={row[0]: (row[1], RunStatus(row[2])) for row in rows}
    )


def range_values(key: RunKey, step_id: str, first: int, stop: int) -> dict[str, Any]:
    """Return the parameters of `CHILDREN_SQL`."""
    return {"run_id": key.run_id, "tenant_id": key.tenant_id, "step_id": step_id, "first": first, "stop": stop}


def parent_values(key: RunKey, parent: Parent) -> dict[str, Any]:
    """Return the parameters of `RUNS_SQL`."""
    return {
        "tenant_id": key.tenant_id,
        "parent_run_id": parent.run_id,
        "parent_step_id": parent.step_id,
        "parent_attempt": parent.attempt,
    }


def check_parent(row: Sequence[Any] | None, parent: Parent) -> None:
    """Check a row of `RUNS_SQL`. Raises `ParentGone`, `ParentPaused`."""
    if row is None:
        raise ParentGone(parent.run_id, parent.step_id)
    if row[0] == RunStatus.PAUSED:
        raise ParentPaused(parent.run_id, parent.step_id)
