"""Builds the evidence of a run from its rows, as one chained and signed document. Pure: same rows, same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from headgate.features.runs.evidence.chain import chained, head_of
from headgate.features.runs.evidence.inputs import LONGEST_VALUE, EdgeInput, inputs_from_edges
from headgate.features.runs.evidence.masking import Mask
from headgate.features.runs.evidence.seal import FORMAT, seal_of
from headgate.features.runs.steps.payloads import intact, outside_of, presented
from headgate.foundation.canonical import digest, portable
from headgate.foundation.database import moment
from headgate.foundation.signing import Signer

Row = Any
"""A row of columns, read by name."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """All stored data of a run."""

    run: Row
    definition: Mapping[str, Any]
    definition_checksum: str
    headgate_version: str
    steps: Sequence[Row]
    attempts: Sequence[Row]
    deliveries: Sequence[Row]
    delivery_attempts: Sequence[Row]
    files: Mapping[str, Row]
    """Input and output files of the run by id, without removed ones."""
    approvals: Sequence[Row] = ()
    approval_decisions: Sequence[Row] = ()
    approval_answers: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """Answers to the forms of approvals, by approval and user."""
    pauses: Sequence[Row] = ()
    """Events that the run was paused or continued, in order: `kind` and `at`."""
    event_waits: Sequence[Row] = ()
    started_runs: Sequence[Row] = ()
    """Runs that its steps started, in order."""


def make_package(record: RunRecord, signer: Signer, secrets: Sequence[str]) -> dict[str, Any]:
    """Build the document of a run.

    Args:
        record: Its rows.
        signer: The installation's signing key.
        secrets: Values of the tenant's secret variables, which are masked.

    Raises:
        RunDamaged: A row holds invalid data.
    """
    finishing = sorted(record.steps, key=lambda step: (step.finished_at or float("inf"), step.step_order))
    with intact("this run"):
        author = _Author(record, signer, secrets)
        definition = portable(author.mask.technical(record.definition))
        entries = [author.run_entry(digest(definition)), *(author.step_entry(step) for step in finishing)]
    run, *steps = chained(portable(entry) for entry in entries)
    return {
        "format": FORMAT,
        "run": run,
        "definition_snapshot": definition,
        "step_results": steps,
        "seal": seal_of(signer, head_of([run, *steps]), len(steps)),
    }


class _Author:
    """Builds the entries of one run."""

    def __init__(self, record: RunRecord, signer: Signer, secrets: Sequence[str]) -> None:
        self._record = record
        self._signer = signer
        answers = record.run.input_payload.get("form_data", {})
        private_ids = {field["id"] for field in record.definition.get("form", ()) if field.get("private")}
        self._private = {name: answer for name, answer in answers.items() if name in private_ids}
        self.mask = Mask(secrets, self._private)

    def run_entry(self, definition_sha256: str) -> dict[str, Any]:
        """Return the entry of the run: its definition, input and result."""
        run = self._record.run
        return {
            "flow_run_id": run.id,
            "tenant_id": run.tenant_id,
            "flow_id": run.flow_id,
            "flow_version": run.version,
            "definition_checksum": self._record.definition_checksum,
            "definition_sha256": definition_sha256,
            "headgate_version": self._record.headgate_version,
            "user_id": run.user_id,
            "session_id": self._content(run.session_id),
            "status": run.status,
            "input": self._input(run.input_payload),
            "output": self._content(run.output_payload),
            "error": self._error(run),
            "created_at": _when(run.created_at),
            "cancelled_at": _when(run.cancelled_at),
            **_times(run),
            "source_run_id": run.source_run_id,
            "source_step_id": run.source_step_id,
            "resumes": run.resumes,
            # Only when present, so that earlier exports keep their bytes.
            **({"part": run.part} if run.part else {}),
            **({"trigger": run.input_payload["trigger"]} if "trigger" in run.input_payload else {}),
            **_parent(run),
            **_pauses(self._record.pauses),
            **({"deadline_at": _when(run.deadline_at)} if run.deadline_at is not None else {}),
            **({"limits": run.terms} if run.terms else {}),
            **self._outside(run.input_payload),
        }

    def step_entry(self, step: Row) -> dict[str, Any]:
        """Return the entry of a step: its inputs, calls and outputs."""
        return {
            "step_id": step.step_id,
            "step_order": step.step_order,
            "type": step.type,
            "status": step.status,
            "classification": step.classification,
            "reused_from_run_id": step.reused_from_run_id,
            "input": self._step_input(step),
            "effective_prompt": self._content(step.effective_prompt),
            "model_parameters": self.mask.technical(step.model_parameters),
            "tokens": {"input": step.num_tokens_input, "output": step.num_tokens_output},
            "tool_calls": self.mask.technical(step.tool_calls or []),
            "log": self.mask.technical(step.log or []),
            "output": self._content(presented(step.output_payload)),
            "artifacts": self._artifacts(file_ids_of(step.output_payload)),
            **self._outside(step.output_payload),
            "execution_hash": self._execution_hash(step),
            "error": self._error(step),
            **_times(step),
            **({"pinned": True} if step.step_id in (self._record.run.part or {}).get("pinned", ()) else {}),
            **self._approvals(step.step_id),
            **self._event_waits(step.step_id),
            **self._started_runs(step.step_id),
            "attempts": [self._attempt(row) for row in self._record.attempts if row.step_id == step.step_id],
            "deliveries": [self._delivery(row) for row in self._record.deliveries if row.step_id == step.step_id],
        }

    def _approvals(self, step_id: str) -> dict[str, Any]:
        """Return who decided what on which content, if the step asked users."""
        entries = [
            {
                "id": row.id,
                "round": row.round,
                **({"tool": row.tool} if row.tool else {}),
                "status": row.status,
                "shown_sha256": self._hash(f"{row.id}.shown", row.content_hash),
                "assignees": [{"user_id": entry.get("user_id"), "role": entry.get("role")} for entry in row.assignees],
                "needed": row.needed,
                "created_at": _when(row.created_at),
                "due_at": _when(row.due_at),
                "decided_at": _when(row.decided_at),
                "decisions": [
                    {
                        "user_id": decision.user_id,
                        "user_name": self.mask.text(decision.user_name),
                        **({"outside_reviewer": self.mask.text(decision.outside)} if decision.outside else {}),
                        "decision": decision.decision,
                        "shown_sha256": self._hash(f"{row.id}.shown", decision.shown_hash),
                        "response_sha256": self._hash(f"{row.id}.response", decision.response_hash),
                        **self._answers(decision),
                        "api_key_id": decision.key_id,
                        "address": decision.address,
                        "decided_at": _when(decision.decided_at),
                    }
                    for decision in self._record.approval_decisions
                    if decision.approval_id == row.id
                ],
            }
            for row in self._record.approvals
            if row.step_id == step_id
        ]
        return {"approvals": entries} if entries else {}

    def _answers(self, decision: Row) -> dict[str, Any]:
        """Return the answers to the form of an approval, if it has one."""
        answers = self._record.approval_answers.get((decision.approval_id, decision.user_id))
        return {"answers": self._content(answers)} if answers else {}

    def _event_waits(self, step_id: str) -> dict[str, Any]:
        """Return which event the step waited for and received, from whom, and the hash of its data."""
        entries = [
            {
                "name": self.mask.text(row.name),
                "correlation": self._content(row.correlation),
                "status": row.status,
                "since": _when(row.created_at),
                "due_at": _when(row.due_at),
                "settled_at": _when(row.settled_at),
                "event_id": row.event_id,
                "received_at": _when(row.received_at),
                "data_sha256": row.content_hash and self._hash(f"{row.event_id}.data", row.content_hash),
                "sender": row.sender and {**row.sender, "name": self.mask.text(row.sender.get("name", ""))},
            }
            for row in self._record.event_waits
            if row.step_id == step_id
        ]
        return {"event_waits": entries} if entries else {}

    def _started_runs(self, step_id: str) -> dict[str, Any]:
        """Return the runs that the step started; the evidence of each names this run."""
        entries = [
            {"run_id": row.id, "flow_id": row.flow_id, "flow_version": row.version, "iteration": row.parent_iteration}
            for row in self._record.started_runs
            if row.parent_step_id == step_id
        ]
        return {"started_runs": entries} if entries else {}

    def _hash(self, name: str, sha256: str) -> Any:  # noqa: ANN401
        """Return a hash; with private input only a commitment, since the content could be guessed and confirmed."""
        return self._withheld(name, sha256) if self._private else sha256

    def _outside(self, payload: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the sources of untrusted content, if there are any."""
        marks = outside_of(payload)
        return {"outside_content": [self.mask.text(mark) for mark in marks]} if marks else {}

    def _step_input(self, step: Row) -> dict[str, Any] | None:
        """Return the input of a step: the recorded policy input and the inputs over edges."""
        entry: dict[str, Any] = dict(self.mask.technical(step.input_payload) or {})
        edges = [
            {
                "field": edge_input.field,
                "from": edge_input.source,
                **self._value(f"{step.step_id}.{edge_input.field}.{edge_input.source}", edge_input),
            }
            for edge_input in inputs_from_edges(self._record.definition, step, self._record.steps)
        ]
        if edges:
            entry["edges"] = edges
        return entry or None

    def _value(self, name: str, edge_input: EdgeInput) -> dict[str, Any]:
        """Return a short value in full; for a long one its size and hash, for an artifact its reference."""
        entry = edge_input.entry
        if "value" not in entry:
            members = ("type", "file_id", "media_type", "size_bytes")
            return {name: entry[name] for name in members if name in entry}
        value = portable(entry["value"])
        size = len(orjson.dumps(value))
        if size <= LONGEST_VALUE:
            return {"type": entry["type"], "value": self._content(entry["value"])}
        sha256 = self._withheld(f"input.{name}", value) if self._private else digest(value)
        return {"type": entry["type"], "size_bytes": size, "sha256": sha256}

    def _input(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the run's input; for private answers only a commitment."""
        answers = {
            name: self._withheld(f"input.form_data.{name}", answer) if name in self._private else self._content(answer)
            for name, answer in payload.get("form_data", {}).items()
        }
        files = [file["id"] for file in payload.get("files", ())]
        return {"text": self._content(payload["text"]), "form_data": answers, "files": self._artifacts(files)}

    def _execution_hash(self, step: Row) -> Any:  # noqa: ANN401
        """Omit the execution hash for private input: it covers the input, which could be guessed and confirmed."""
        if step.execution_hash is None or not self._private:
            return step.execution_hash
        return self._withheld(f"{step.step_id}.execution_hash", step.execution_hash)

    def _withheld(self, name: str, value: Any) -> dict[str, str]:  # noqa: ANN401
        commitment = self._signer.commitment(f"{self._record.run.id}.{name}", portable(value))
        return {"withheld": "private", "commitment": commitment}

    def _content(self, value: Any) -> Any:  # noqa: ANN401
        return self.mask.content(value)

    def _error(self, row: Row) -> dict[str, Any] | None:
        if not row.error_code:
            return None
        return {"code": row.error_code, "message": self.mask.text(row.error_message or "")}

    def _artifacts(self, file_ids: Sequence[str]) -> list[dict[str, Any]]:
        return [self._artifact(file_id) for file_id in file_ids]

    def _artifact(self, file_id: str) -> dict[str, Any]:
        row = self._record.files.get(file_id)
        if row is None:
            return {"id": file_id, "removed": True}
        # A file's content may depend on a private answer, which could be guessed and confirmed with its hash.
        sha256 = self._withheld(f"artifact.{file_id}", row.sha256) if self._private else row.sha256
        return {
            "id": file_id,
            "name": self.mask.text(row.name),
            "media_type": row.media_type,
            "size_bytes": row.size_bytes,
            "sha256": sha256,
        }

    def _attempt(self, row: Row) -> dict[str, Any]:
        entry = {"attempt_no": row.attempt_no, "status": row.status, "worker_id": row.worker_id}
        return {**entry, "error": self._error(row), "record": self._left(row.record), **_times(row)}

    def _left(self, record: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return what a failed attempt left before the step was repeated."""
        if record is None:
            return None
        prompt = self._content(record.get("effective_prompt"))
        contents = {name: self.mask.technical(value) for name, value in record.items() if name != "effective_prompt"}
        return {"effective_prompt": prompt, **contents}

    def _delivery(self, row: Row) -> dict[str, Any]:
        tries = [attempt for attempt in self._record.delivery_attempts if attempt.delivery_id == row.id]
        return {
            "id": row.id,
            "url": self.mask.text(row.url_shown),
            "status": row.status,
            "idempotency_key": row.idempotency_key,
            "last_status": row.last_status,
            "error": self._error(row),
            "created_at": _when(row.created_at),
            "delivered_at": _when(row.delivered_at),
            "attempts": [
                {"attempt_no": attempt.attempt_no, "status_code": attempt.status_code, "error": self._error(attempt)}
                | _times(attempt)
                for attempt in tries
            ],
        }


def file_ids_of(payload: Mapping[str, Any] | None) -> list[str]:
    """Return the files that a step's stored output names: artifacts of long values, created files, forwarded files."""
    if payload is None:
        return []
    with intact("the output of a step"):
        long_values = [entry["file_id"] for entry in payload["outputs"].values() if "file_id" in entry]
        return sorted({*long_values, *payload.get("file_ids", ()), *payload.get("generated_file_ids", ())})


def _times(row: Row) -> dict[str, Any]:
    started, finished = row.started_at, row.finished_at
    took = None if started is None or finished is None else (finished - started) / 1000
    return {"started_at": _when(started), "finished_at": _when(finished), "latency_ms": took}


def _parent(run: Row) -> dict[str, Any]:
    """Return the step that started a run, if one did."""
    if run.parent_run_id is None:
        return {}
    step = {"run_id": run.parent_run_id, "step_id": run.parent_step_id, "iteration": run.parent_iteration}
    return {"parent": step}


def _pauses(events: Sequence[Row]) -> dict[str, Any]:
    """Return when users paused and continued a run, if they did."""
    pauses: list[dict[str, Any]] = []
    for event in events:
        if event.kind == "run_paused":
            pauses.append({"paused_at": _when(event.at), "continued_at": None})
        elif pauses:
            pauses[-1]["continued_at"] = _when(event.at)
    return {"pauses": pauses} if pauses else {}


def _when(microseconds: int | None) -> str | None:
    return None if microseconds is None else moment(microseconds).isoformat(timespec="microseconds")
