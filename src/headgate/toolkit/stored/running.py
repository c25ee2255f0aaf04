"""Operations on runs: start, read, list, cancel, evidence."""

from typing import Any, Literal, NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.runs import pausing, service
from headgate.features.runs.once import start_once
from headgate.features.runs.schemas import Ending, RunOut, RunStart, RunState
from headgate.features.runs.views.runs import outside_of
from headgate.features.runs.waiting import waiting_words
from headgate.foundation.checked import checked
from headgate.foundation.quoting import shortened
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.running import LONGEST_WAIT_SECONDS, shown_outputs
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.stored.waits import waiting_hint, waits_of
from headgate.toolkit.tool import Params

MOST_LISTED = 50
MOST_STEPS = 60
_GLIMPSE = 200
_TOLD = {
    "run_started": "run {run_id} has started",
    "step_started": "step {label} is running",
    "step_completed": "step {label} is completed",
    "step_failed": "step {label} failed",
    "step_skipped": "step {label} is skipped",
    "step_waiting": "step {label} waits for {waits}",
}


class Outcome(TypedDict):
    """Outcome of a run, or that it has started."""

    run_id: str
    status: str
    version: NotRequired[Literal["draft", "published"]]
    """Which content ran."""
    outputs: NotRequired[dict[str, JsonValue]]
    files: NotRequired[list[JsonValue]]
    error: NotRequired[str]
    remedy: NotRequired[str]
    duration_ms: NotRequired[int]
    tokens: NotRequired[int]
    hint: NotRequired[str]


class StepLine(TypedDict):
    """A step of a run in a list."""

    step_id: str
    type: str
    status: str
    ms: float | None
    error: NotRequired[str]
    waits_for: NotRequired[str]
    """What the step waits for, in words."""
    attempts: NotRequired[int]
    """When there was more than one."""


class Run(TypedDict):
    """A run."""

    run_id: str
    flow_id: str
    version: int
    status: str
    text: str
    error: NotRequired[str]
    ms: float | None
    steps: list[StepLine]
    outside_content: NotRequired[list[str]]
    """Origins of untrusted content that reached a step."""
    more_steps: NotRequired[int]
    """Number of omitted steps of a very long run."""


class RunLine(TypedDict):
    """A run in a list."""

    run_id: str
    flow_id: str
    version: int
    status: str
    created_at: str
    ms: float | None
    text: str
    error: NotRequired[str]


class RunList(TypedDict):
    """Runs, newest first."""

    runs: list[RunLine]
    more: NotRequired[str]


class Cancelled(TypedDict):
    """Outcome of a cancel request."""

    run_id: str
    status: str
    changed: bool


class EvidenceSummary(TypedDict):
    """Summary of a run's evidence, and the location of the document."""

    run_id: str
    format: str
    status: str
    steps: int
    seal: dict[str, JsonValue]
    """Head of the hash chain, and the signature over it."""
    resource: str


async def run_flow(  # noqa: PLR0917 - arguments of a tool
    visit: Visit,
    flow_id: str,
    input_value: str = "",
    form: Params = {},  # noqa: B006 - read by `define`, never changed
    file_ids: list[str] = [],  # noqa: B006 - read by `define`, never changed
    version: Literal["", "draft", "published"] = "",
    wait: bool = True,  # noqa: FBT001, FBT002 - an argument of a tool
    idempotency_key: str = "",
    deadline_seconds: float | None = None,
) -> Outcome:
    """Run a flow and wait for its result; progress is reported meanwhile.

    Args:
        flow_id: Id of the flow.
        input_value: Text input.
        form: Answers to the form, by field id.
        file_ids: Uploaded files.
        version: 'draft' or 'published'; empty: published if the flow is, else the draft; the answer names it.
        wait: false: return once the run is stored; then poll read_run.
        idempotency_key: A random key; repeating the call with it returns the first run.
        deadline_seconds: The run fails if it has not ended by then, even if it waits.
    """
    chosen = version or await _version(visit, flow_id)
    if not wait:
        start = checked(
            RunStart,
            text=input_value,
            form_data=form,
            file_ids=file_ids,
            version=chosen,
            deadline_seconds=deadline_seconds,
        )
        return {**await _begin(visit, flow_id, start, idempotency_key or None), "version": chosen}

    def on_event(run_id: str, kind: str, data: dict[str, JsonValue]) -> None:
        if kind in _TOLD:
            waits = waiting_words(data.get("reason"), data.get("until")) if kind == "step_waiting" else ""
            visit.report(_TOLD[kind].format(run_id=run_id, label=data.get("label", ""), waits=waits))

    run = await visit.studio.runs.run_draft(
        visit.principal,
        flow_id,
        text=input_value,
        form=form,
        file_ids=tuple(file_ids),
        on_event=on_event,
        version=chosen,
        idempotency_key=idempotency_key or None,
        deadline_seconds=deadline_seconds,
        until_waiting=True,
        longest_wait_seconds=LONGEST_WAIT_SECONDS,
    )
    return _finished(run, chosen)


def _finished(run: RunOutcome, version: Literal["draft", "published"]) -> Outcome:
    """Return the outcome of a run that ended or waits."""
    answer: Outcome = {
        "run_id": run.run_id,
        "status": run.status,
        "version": version,
        "outputs": shown_outputs(run),
        "files": [dict(file) for file in run.files],
        "duration_ms": run.duration_ms,
        "tokens": run.input_tokens + run.output_tokens,
    }
    if run.status == "waiting":
        answer["hint"] = waiting_hint(run)
    if run.error:
        answer["error"] = run.error
        answer["remedy"] = "Correct the step it names and run again; read_run shows every step."
    return answer


async def _version(visit: Visit, flow_id: str) -> Literal["draft", "published"]:
    """Return what runs where the caller does not say: what the users of the flow run."""
    row = await visit.flow(flow_id, Permission.RUNS_START)
    return "draft" if row.published_version is None else "published"


async def read_run(visit: Visit, run_id: str) -> Run:
    """Read a run: its status, its result, and a summary of each step.

    Args:
        run_id: Id of the run.
    """
    run = await service.get_run(visit.studio.engine, visit.principal, run_id)
    steps: list[StepLine] = []
    waits = await waits_of(visit, run)
    for step in run.steps[:MOST_STEPS]:
        line: StepLine = {"step_id": step.step_id, "type": step.type, "status": step.status, "ms": step.ms}
        if step.error is not None:
            line["error"] = _error_text(step.error)
        if step.attempts > 1:
            line["attempts"] = step.attempts
        if step.step_id in waits:
            line["waits_for"] = waits[step.step_id]
        steps.append(line)
    answer: Run = {
        "run_id": run.id,
        "flow_id": run.flow_id,
        "version": run.version,
        "status": run.status,
        "text": _result(run),
        "ms": run.ms,
        "steps": steps,
    }
    if run.error is not None:
        answer["error"] = _error_text(run.error)
    if marks := outside_of(run):
        answer["outside_content"] = list(marks)
    if len(run.steps) > MOST_STEPS:
        answer["more_steps"] = len(run.steps) - MOST_STEPS
    return answer


async def list_runs(
    visit: Visit, flow_id: str = "", status: RunState | Literal[""] = "", limit: int = 10, before: str = ""
) -> RunList:
    """List runs, newest first.

    Args:
        flow_id: Only of this flow.
        status: Only with this status.
        limit: 50 at most.
        before: Last run of the previous page.
    """
    most = max(1, min(limit, MOST_LISTED))
    visit.require(Permission.RUNS_VIEW)
    async with visit.studio.database.reading() as session:
        rows = await service.list_runs(
            session,
            visit.principal,
            flow_id=flow_id or None,
            status=status or None,
            limit=most + 1,
            before=before or None,
        )
    lines: list[RunLine] = []
    for row in rows[:most]:
        line: RunLine = {
            "run_id": row.id,
            "flow_id": row.flow_id,
            "version": row.version,
            "status": row.status,
            "created_at": row.created_at.isoformat(),
            "ms": row.ms,
            "text": shortened(row.text or "", _GLIMPSE),
        }
        if row.error is not None:
            line["error"] = _error_text(row.error)
        lines.append(line)
    page: RunList = {"runs": lines}
    if len(rows) > most:
        page["more"] = f"There are more: call again with before='{lines[-1]['run_id']}'."
    return page


async def cancel_run(visit: Visit, run_id: str) -> Cancelled:
    """Cancel a run. Has no effect on one that is over.

    Args:
        run_id: Id of the run.
    """
    run = await service.cancel_run(visit.studio.engine, visit.principal, run_id)
    return {"run_id": run.id, "status": run.status, "changed": run.changed}


async def pause_run(visit: Visit, run_id: str) -> Cancelled:
    """Pause a run: running steps finish, no other starts.

    Args:
        run_id: Id of the run.
    """
    run = await pausing.pause_run(visit.studio.engine, visit.principal, run_id)
    return {"run_id": run.id, "status": run.status, "changed": run.changed}


async def continue_run(visit: Visit, run_id: str) -> Cancelled:
    """Continue a paused run.

    Args:
        run_id: Id of the run.
    """
    run = await pausing.continue_run(visit.studio.engine, visit.principal, run_id)
    return {"run_id": run.id, "status": run.status, "changed": run.changed}


async def get_run_evidence(visit: Visit, run_id: str) -> EvidenceSummary:
    """Summarise the signed evidence of a run; the complete document is a resource.

    Args:
        run_id: Id of the run.
    """
    package = await evidence_of(visit, run_id)
    return {
        "run_id": run_id,
        "format": str(package["format"]),
        "status": str(package["run"]["status"]),
        "steps": len(package["step_results"]),
        "seal": package["seal"],
        "resource": f"headgate://runs/{run_id}/evidence",
    }


async def evidence_of(visit: Visit, run_id: str) -> dict[str, Any]:
    """Return the evidence of a run from `evidence.package`. Raises `RunNotFound`, `PermissionMissing`."""
    async with visit.studio.database.reading() as session:
        return await visit.studio.notary.package(session, visit.principal, run_id)


async def _begin(visit: Visit, flow_id: str, start: RunStart, key: str | None) -> Outcome:
    studio = visit.studio
    run_id = await start_once(studio.database, studio.engine, visit.principal, flow_id, start, idempotency_key=key)
    return {"run_id": run_id, "status": "queued", "hint": "Call read_run for the status and cancel_run to stop it."}


def _error_text(ending: Ending) -> str:
    return shortened(f"{ending.code}: {ending.message}", 1000)


def _result(run: RunOut) -> str:
    where = f"Complete: GET /api/v1/flow-runs/{run.id}/text."
    text = run.text or ""
    if not run.truncated:
        return text
    return f"{text}\n... [shortened: the beginning of {run.size_bytes:,} bytes. {where}]"


OPERATIONS: tuple[Row, ...] = (
    (run_flow, Permission.RUNS_START, "run"),
    (read_run, Permission.RUNS_VIEW, "read"),
    (list_runs, Permission.RUNS_VIEW, "read"),
    (cancel_run, Permission.RUNS_START, "set"),
    (pause_run, Permission.RUNS_START, "set"),
    (continue_run, Permission.RUNS_START, "set"),
    (get_run_evidence, Permission.RUNS_VIEW, "read"),
)
