"""Converts rows of runs for the API. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headgate.features.runs.schemas import (
    AttemptOut,
    ClassOut,
    Ending,
    OutsideOut,
    RunInputOut,
    RunOut,
    RunSummary,
    StartedRunsOut,
    StepOut,
    StepSummary,
    WaitingOut,
)
from headgate.features.runs.states import RunStatus
from headgate.features.runs.waiting import WaitReason
from headgate.foundation.database import moment
from headgate.foundation.lazy import lazy_module
from headgate.foundation.shaped import shaped
from headgate.graph.classification import Scheme

if TYPE_CHECKING:
    from headgate.features.runs.steps import payloads
    from headgate.features.runs.steps.planned import PlannedFlow
else:
    payloads = lazy_module("headgate.features.runs.steps.payloads")

LONGEST_PREVIEW = 500
"""Characters of a run's result in a list."""
Labels = Mapping[str, str]
NO_LIMITS: Mapping[str, int] = {}


def run_summary(row: Any) -> RunSummary:  # noqa: ANN401 - a row of flow_runs
    """Return a run for a list, with the beginning of its result."""
    stored = row.output_payload or {}
    text = stored.get("text")
    long = text is not None and len(text) > LONGEST_PREVIEW
    return shaped(
        RunSummary,
        row,
        **_ended(row),
        text=text if text is None else text[:LONGEST_PREVIEW],
        truncated=long or bool(stored.get("truncated")),
    )


def run_view(row: Any, steps: Sequence[Any], planned: "PlannedFlow | None") -> RunOut:  # noqa: ANN401
    """Return a run with its steps and its complete result. Without a plan (components gone) steps have no labels."""
    stored = row.input_payload
    with payloads.intact("the run's input"):
        run_input = RunInputOut(
            text=stored["text"],
            form_data=stored.get("form_data", {}),
            file_ids=[file["id"] for file in stored.get("files", ())],
        )
    labels = labels_of(planned)
    limits = attempts_allowed(planned)
    output = _output(row, steps)
    return shaped(
        RunOut,
        row,
        **_ended(row),
        **_text_members(row.id, output),
        input=run_input,
        output=output,
        steps=[step_summary(step, labels, pinned_of(row), limits) for step in steps],
        outside_content=_sources(payloads.outside_of(row.input_payload), payloads.outside_of(row.output_payload)),
        trigger=stored.get("trigger"),
    )


def step_summary(
    row: Any,  # noqa: ANN401
    labels: Labels,
    pinned: Collection[str] = (),
    limits: Mapping[str, int] = NO_LIMITS,
) -> StepSummary:
    """Return the summary of a step."""
    members = _step_members(row, labels)
    return shaped(StepSummary, row, **members, pinned=row.step_id in pinned, max_attempts=limits.get(row.step_id, 1))


def pinned_of(run: Any) -> Collection[str]:  # noqa: ANN401 - a row of flow_runs
    """Return the steps of a run with pinned outputs."""
    pinned: list[str] = (run.part or {}).get("pinned", [])
    return pinned


def class_view(level: int | None, scheme: Scheme | None) -> ClassOut | None:
    """Return a classification; by its number alone when classifications have been disabled since."""
    return None if level is None else ClassOut(level=level, name=(scheme or Scheme(())).name(level))


def outside_view(row: Any) -> list[OutsideOut]:  # noqa: ANN401 - a row of flow_steps
    """Return the origins of untrusted content that reached a step."""
    return _sources(payloads.outside_of(row.output_payload))


def outside_of(run: RunOut) -> tuple[str, ...]:
    """Return the marks of a run's input and result; the error of a failed run may quote what a step read."""
    marks = tuple(f"{source.kind}:{source.name}" for source in run.outside_content)
    return marks or (("run:",) if run.error is not None and run.status == "failed" else ())


def _sources(*marks: Iterable[str]) -> list[OutsideOut]:
    distinct = dict.fromkeys(mark for group in marks for mark in group)
    return [OutsideOut(kind=kind, name=name) for kind, _, name in (mark.partition(":") for mark in distinct)]


def step_view(
    row: Any,  # noqa: ANN401
    labels: Labels,
    attempts: Sequence[Any],
    scheme: Scheme | None = None,
    *,
    pinned: bool = False,
    max_attempts: int = 1,
) -> StepOut:
    """Return a step with all its data."""
    return shaped(
        StepOut,
        row,
        **_step_members(row, labels),
        max_attempts=max_attempts,
        input=row.input_payload,
        output=_linked(row.output_payload),
        tool_calls=row.tool_calls or [],
        log=row.log or [],
        classification=class_view(row.classification, scheme),
        outside_content=outside_view(row),
        pinned=pinned,
        tries=[attempt_view(attempt) for attempt in attempts],
    )


def started_runs(rows: Iterable[Any], expected: Mapping[str, int]) -> list[StartedRunsOut]:
    """Return the number of runs of each step, from counts by step and status; `expected`: how many it starts in all."""
    of_steps: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = of_steps.setdefault(row.parent_step_id, {"started": 0})
        name = row.status if RunStatus(row.status).over else "active"
        counts[name] = counts.get(name, 0) + row.count
        counts["started"] += row.count
    return [
        StartedRunsOut.model_validate({"step_id": step, "total": expected.get(step), **counts})
        for step, counts in sorted(of_steps.items())
    ]


def attempt_view(row: Any) -> AttemptOut:  # noqa: ANN401 - a row of flow_step_attempts
    """Return one attempt at a step."""
    return shaped(AttemptOut, row, error=_ending(row))


def labels_of(planned: "PlannedFlow | None") -> Labels:
    """Return step id to display name."""
    return {} if planned is None else {step.id: step.label for step in planned.steps.values()}


def attempts_allowed(planned: "PlannedFlow | None") -> Mapping[str, int]:
    """Return step id to the number of attempts that its policy allows, where it is more than one."""
    if planned is None:
        return NO_LIMITS
    return {step.id: step.retry.max_attempts for step in planned.steps.values() if step.retry is not None}


def _ended(row: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"error": _ending(row), "ms": _milliseconds(row)}


def _step_members(row: Any, labels: Labels) -> dict[str, Any]:  # noqa: ANN401
    return {
        "order": row.step_order,
        "label": labels.get(row.step_id, row.step_id),
        "ms": _milliseconds(row),
        "tokens_input": row.num_tokens_input,
        "tokens_output": row.num_tokens_output,
        "error": _ending(row) if row.status not in {"pending", "running"} else None,
        "waiting": _waiting(row) if row.status == "waiting" else None,
    }


def _waiting(row: Any) -> WaitingOut:  # noqa: ANN401
    # A retry that waits keeps the time at which the step was answered before it failed.
    answered = row.answered_at is not None and (row.waits_for != WaitReason.RETRY or row.due_at is None)
    return WaitingOut(reason=row.waits_for, until=None if answered else _moment(row.due_at), answered=answered)


def _output(row: Any, steps: Sequence[Any]) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the complete result: the output of each last step, and the text of the last one that has text.

    The store reads outputs of last steps only, and of the step that the run stops at. An output over the inline limits
    is an artifact, described by `truncated`, `size_bytes` and `download`.
    """
    stored: dict[str, Any] | None = row.output_payload
    if stored is None:
        return None
    stops_at = (row.part or {}).get("only_step")
    payloads_by_step = {
        step.step_id: _linked(step.output_payload) for step in steps if stops_at in {None, step.step_id}
    }
    outputs = {step_id: payload for step_id, payload in payloads_by_step.items() if payload is not None}
    result = next((payload for payload in reversed(outputs.values()) if payload["text"] is not None), None)
    result_out = {
        "text": None,
        "file_ids": stored.get("file_ids", []),
        "step_ids": stored["step_ids"],
        "outputs": outputs,
    }
    if result is not None:
        result_out["text"] = result["text"]
        entry = result["outputs"][result["main"]]
        if entry.get("truncated"):
            result_out |= {"truncated": True, "size_bytes": entry["size_bytes"]}
    return result_out


def _text_members(run_id: str, output: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the text of a run's result, or its beginning with the location of the rest."""
    if output is None:
        return {"text": None}
    if not output.get("truncated"):
        return {"text": output["text"]}
    size, link = output["size_bytes"], f"/api/v1/flow-runs/{run_id}/text"
    return {"text": output["text"], "truncated": True, "size_bytes": size, "download": link}


def _linked(payload: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a stored payload for the API, each artifact with the location of its content."""
    presented = payloads.presented(payload)
    if presented is None:
        return None
    outputs = {
        name: {**entry, "download": f"/api/v1/artifacts/{entry['file_id']}"} if entry.get("truncated") else entry
        for name, entry in presented["outputs"].items()
    }
    return {**presented, "outputs": outputs}


def _ending(row: Any) -> Ending | None:  # noqa: ANN401
    return Ending(code=row.error_code, message=row.error_message or "") if row.error_code else None


def _moment(stored: int | None) -> datetime | None:
    return None if stored is None else moment(stored)


def _milliseconds(row: Any) -> float | None:  # noqa: ANN401
    if row.started_at is None or row.finished_at is None:
        return None
    return float((row.finished_at - row.started_at) / 1000)
