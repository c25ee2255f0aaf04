"""The evidence of a run from its rows, as one chained and sealed document. Pure: the same rows give the same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
"""A row of plain columns, read by name."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything that is stored about a run."""

    run: Row
    definition: Mapping[str, Any]
    definition_checksum: str
    headgate_version: str
    steps: Sequence[Row]
    attempts: Sequence[Row]
    deliveries: Sequence[Row]
    delivery_attempts: Sequence[Row]
    files: Mapping[str, Row]
    """Files that the run was given or made, by id; those that were removed are missing."""


def make_package(record: RunRecord, signer: Signer, secrets: Sequence[str]) -> dict[str, Any]:
    """The document of a run.

    Args:
        record: Its rows.
        signer: The installation's key.
        secrets: Values of the tenant's secret variables: none of them comes into the document.

    Raises:
        RunDamaged: A row does not hold what Headgate stores in it.
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
    """Writes the entries of one run."""

    def __init__(self, record: RunRecord, signer: Signer, secrets: Sequence[str]) -> None:
        self._record = record
        self._signer = signer
        answers = record.run.input_payload.get("form_data", {})
        marked = {field["id"] for field in record.definition.get("form", ()) if field.get("private")}
        self._private = {name: answer for name, answer in answers.items() if name in marked}
        self.mask = Mask(secrets, self._private)

    def run_entry(self, definition_sha256: str) -> dict[str, Any]:
        """What the run was, what it was given and what came of it."""
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
            # Only where there is something to say: what was exported before it could be said keeps its bytes.
            **({"part": run.part} if run.part else {}),
            **self._outside(run.input_payload),
        }

    def step_entry(self, step: Row) -> dict[str, Any]:
        """What one step did, with what, and what it left."""
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
            "attempts": [self._attempt(row) for row in self._record.attempts if row.step_id == step.step_id],
            "deliveries": [self._delivery(row) for row in self._record.deliveries if row.step_id == step.step_id],
        }

    def _outside(self, payload: Mapping[str, Any] | None) -> dict[str, Any]:
        """Where content from outside comes from; only where there is any."""
        marks = outside_of(payload)
        return {"outside_content": [self.mask.text(one) for one in marks]} if marks else {}

    def _step_input(self, step: Row) -> dict[str, Any] | None:
        """The input of a step: what its policy fetched, as recorded, and the inputs over edges."""
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

    def _value(self, where: str, edge_input: EdgeInput) -> dict[str, Any]:
        """A short value in full; for a long one the size and hash, for an artifact its reference."""
        entry = edge_input.entry
        if "value" not in entry:
            members = ("type", "file_id", "media_type", "size_bytes")
            return {name: entry[name] for name in members if name in entry}
        value = portable(entry["value"])
        size = len(orjson.dumps(value))
        if size <= LONGEST_VALUE:
            return {"type": entry["type"], "value": self._content(entry["value"])}
        sha256 = self._withheld(f"input.{where}", value) if self._private else digest(value)
        return {"type": entry["type"], "size_bytes": size, "sha256": sha256}

    def _input(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The run's input; of a private answer only a commitment."""
        answers = {
            name: self._withheld(f"input.form_data.{name}", answer) if name in self._private else self._content(answer)
            for name, answer in payload.get("form_data", {}).items()
        }
        files = [file["id"] for file in payload.get("files", ())]
        return {"text": self._content(payload["text"]), "form_data": answers, "files": self._artifacts(files)}

    def _execution_hash(self, step: Row) -> Any:  # noqa: ANN401
        """The hash covers the run's input: where that is private, somebody could find it by trying."""
        if step.execution_hash is None or not self._private:
            return step.execution_hash
        return self._withheld(f"{step.step_id}.execution_hash", step.execution_hash)

    def _withheld(self, where: str, value: Any) -> dict[str, str]:  # noqa: ANN401
        commitment = self._signer.commitment(f"{self._record.run.id}.{where}", portable(value))
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
        # What a file says may follow from a private answer: then its hash would let somebody find the answer by trying.
        sha256 = self._withheld(f"artifact.{file_id}", row.sha256) if self._private else row.sha256
        return {
            "id": file_id,
            "name": self.mask.text(row.name),
            "media_type": row.media_type,
            "size_bytes": row.size_bytes,
            "sha256": sha256,
        }

    def _attempt(self, row: Row) -> dict[str, Any]:
        found = {"attempt_no": row.attempt_no, "status": row.status, "worker_id": row.worker_id}
        return {**found, "error": self._error(row), "record": self._left(row.record), **_times(row)}

    def _left(self, record: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """What a failed try had left before its step was done again."""
        if record is None:
            return None
        prompt = self._content(record.get("effective_prompt"))
        rest = {name: self.mask.technical(value) for name, value in record.items() if name != "effective_prompt"}
        return {"effective_prompt": prompt, **rest}

    def _delivery(self, row: Row) -> dict[str, Any]:
        tries = [one for one in self._record.delivery_attempts if one.delivery_id == row.id]
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
                {"attempt_no": one.attempt_no, "status_code": one.status_code, "error": self._error(one)} | _times(one)
                for one in tries
            ],
        }


def file_ids_of(payload: Mapping[str, Any] | None) -> list[str]:
    """The files that a step's stored output names: artifacts for long values, files made, files passed on."""
    if payload is None:
        return []
    with intact("the output of a step"):
        long_values = [entry["file_id"] for entry in payload["outputs"].values() if "file_id" in entry]
        return sorted({*long_values, *payload.get("file_ids", ()), *payload.get("generated_file_ids", ())})


def _times(row: Row) -> dict[str, Any]:
    started, finished = row.started_at, row.finished_at
    took = None if started is None or finished is None else (finished - started) / 1000
    return {"started_at": _when(started), "finished_at": _when(finished), "latency_ms": took}


def _when(microseconds: int | None) -> str | None:
    return None if microseconds is None else moment(microseconds).isoformat(timespec="microseconds")
