"""Cancels, pauses, continues, resumes, reruns or redelivers several runs, each in its own transaction."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from headgate.features.access.principal import Principal
from headgate.features.flows.organization.schemas import BulkProblem
from headgate.features.flows.summaries import Wanted
from headgate.features.runs import pausing, service
from headgate.features.runs.deliveries.service import redeliver_failed
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.reruns.schemas import RerunPlanStart
from headgate.features.runs.reruns.service import rerun, resume_run
from headgate.features.runs.schemas import Identifier, RunState
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError

MOST_RUNS_CHANGED = 200
"""Runs of one request."""
MOST_SECONDS = 600.0
"""How long an idempotency key is held for a request whose server was killed."""
RUN_STATE: TypeAdapter[RunState] = TypeAdapter(RunState)


class RunsChangeIn(BaseModel):
    """An action on several runs."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["cancel", "pause", "continue", "resume", "rerun", "redeliver"]
    run_ids: list[Identifier] = Field(min_length=1, max_length=MOST_RUNS_CHANGED)
    published: bool = Field(
        default=False,
        description="`resume`, `rerun`: with the published version of the flow instead of that of the run.",
    )


class RunChange(BaseModel):
    """The outcome for one run."""

    run_id: str
    status: RunState | None
    """None when the action was refused."""
    changed: bool
    """False when it was refused, or had no effect: the run was over, already paused, or not paused."""
    new_run_id: str | None = None
    """The run that continues instead of a resumed one, or that was started by a rerun."""
    problem: BulkProblem | None


class RunsChangeOut(BaseModel):
    """One result per run, in their order."""

    items: list[RunChange]


@dataclass(frozen=True, slots=True)
class _Outcome:
    status: str
    changed: bool
    new_run_id: str | None = None


async def change_each(
    database: Database, engine: ExecutionBackend, principal: Principal, body: RunsChangeIn
) -> list[RunChange]:
    """Apply the action to each run. A refused one changes nothing for the others."""
    return [await _change(database, engine, principal, run_id, body) for run_id in dict.fromkeys(body.run_ids)]


async def _change(
    database: Database, engine: ExecutionBackend, principal: Principal, run_id: str, body: RunsChangeIn
) -> RunChange:
    try:
        outcome = await _apply(database, engine, principal, run_id, body)
    except HeadgateError as error:
        return RunChange(run_id=run_id, status=None, changed=False, problem=BulkProblem.model_validate(error.problem()))
    status = RUN_STATE.validate_python(outcome.status)
    return RunChange(run_id=run_id, status=status, changed=outcome.changed, new_run_id=outcome.new_run_id, problem=None)


async def _apply(
    database: Database, engine: ExecutionBackend, principal: Principal, run_id: str, body: RunsChangeIn
) -> _Outcome:
    version: Wanted | None = "published" if body.published else None
    match body.action:
        case "cancel":
            cancelled = await service.cancel_run(engine, principal, run_id)
            return _Outcome(cancelled.status, cancelled.changed)
        case "pause" | "continue":
            change = pausing.pause_run if body.action == "pause" else pausing.continue_run
            paused = await change(engine, principal, run_id)
            return _Outcome(paused.status, paused.changed)
        case "resume":
            new_id = (await resume_run(database, engine, principal, run_id, version=version)).key.run_id
        case "rerun":
            edits = RerunPlanStart(version=version)
            new_id = (await rerun(database, engine, principal, run_id, edits)).request.key.run_id
        case "redeliver":
            return await _redeliver(database, engine, principal, run_id)
    status = (await service.read_run(engine, principal, run_id)).status
    return _Outcome(status, changed=True, new_run_id=None if new_id == run_id else new_id)


async def _redeliver(database: Database, engine: ExecutionBackend, principal: Principal, run_id: str) -> _Outcome:
    async with database.writing() as session:
        again = await redeliver_failed(session, principal, run_id)
    for delivery_id in again:
        engine.services.deliveries.send_soon(delivery_id)
    return _Outcome((await service.read_run(engine, principal, run_id)).status, changed=bool(again))
