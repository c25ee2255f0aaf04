"""SQL on `flow_step_calls`: answered calls of a step, the same on both databases."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.transitions import RunKey

KEEP_CALL_SQL = (
    "INSERT INTO flow_step_calls (flow_run_id, flow_id, tenant_id, step_id, attempt_no, seq, kind, name, digest,"
    " answer, tokens_input, tokens_output, answered_at) SELECT s.flow_run_id, s.flow_id, s.tenant_id, s.step_id,"
    " s.attempts, CAST(:seq AS INTEGER), CAST(:kind AS VARCHAR), CAST(:name AS VARCHAR), CAST(:digest AS VARCHAR),"
    " :answer, CAST(:tokens_input AS INTEGER), CAST(:tokens_output AS INTEGER), CAST(:at AS BIGINT)"
    " FROM flow_step_results s WHERE s.flow_run_id = :run_id AND s.flow_id = :flow_id AND s.step_id = :step_id"
    " AND s.tenant_id = :tenant_id AND s.attempts = :attempt AND s.status = 'running' RETURNING seq"
)
"""Inserts nothing when the attempt is outdated: a worker that lost its lease has no effect."""
LOAD_CALLS_SQL = (
    "SELECT c.attempt_no, c.seq, c.kind, c.name, c.digest, c.answer, c.tokens_input, c.tokens_output,"
    " CASE WHEN EXISTS (SELECT 1 FROM flow_step_attempts a WHERE a.flow_run_id = c.flow_run_id"
    " AND a.flow_id = c.flow_id AND a.step_id = c.step_id AND a.attempt_no >= c.attempt_no"
    " AND a.record IS NOT NULL) THEN 1 ELSE 0 END"
    " FROM flow_step_calls c WHERE c.flow_run_id = :run_id AND c.flow_id = :flow_id AND c.step_id = :step_id"
    " AND c.tenant_id = :tenant_id ORDER BY c.attempt_no, c.seq"
)
"""The last column: whether the record of an attempt already counts the tokens of the call."""


def keep_values(key: RunKey, call: AnsweredCall) -> dict[str, Any]:
    """Return the parameters of `KEEP_CALL_SQL`."""
    return {
        "run_id": key.run_id,
        "tenant_id": key.tenant_id,
        "flow_id": key.flow_id,
        "step_id": call.step_id,
        "attempt": call.attempt,
        "seq": call.seq,
        "kind": call.kind,
        "name": call.name,
        "digest": call.digest,
        "answer": call.answer,
        "tokens_input": call.tokens_input,
        "tokens_output": call.tokens_output,
        "at": call.at,
    }


def load_values(key: RunKey, step_id: str) -> Mapping[str, Any]:
    """Return the parameters of `LOAD_CALLS_SQL`."""
    return {"run_id": key.run_id, "tenant_id": key.tenant_id, "flow_id": key.flow_id, "step_id": step_id}


def calls_of(rows: Sequence[Sequence[Any]]) -> list[StoredCall]:
    """Return the values of rows of `LOAD_CALLS_SQL`."""
    return [StoredCall(*row[:5], bytes(row[5]), *row[6:8], bool(row[8])) for row in rows]  # type: ignore[call-arg]
