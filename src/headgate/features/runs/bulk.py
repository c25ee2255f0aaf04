"""Cancels, pauses or continues several runs, each in its own transaction."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.principal import Principal
from headgate.features.flows.organization.schemas import BulkProblem
from headgate.features.runs import pausing, service
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import CancelOut, Identifier, PauseOut, RunState
from headgate.foundation.errors import HeadgateError

MOST_RUNS_CHANGED = 200
"""Runs of one request."""


class RunsChangeIn(BaseModel):
    """An action on several runs."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["cancel", "pause", "continue"]
    run_ids: list[Identifier] = Field(min_length=1, max_length=MOST_RUNS_CHANGED)


class RunChange(BaseModel):
    """The outcome for one run."""

    run_id: str
    status: RunState | None
    """None when the action was refused."""
    changed: bool
    """False when it was refused, or had no effect: the run was over, already paused, or not paused."""
    problem: BulkProblem | None


class RunsChangeOut(BaseModel):
    """One result per run, in their order."""

    items: list[RunChange]


async def change_each(engine: ExecutionBackend, principal: Principal, body: RunsChangeIn) -> list[RunChange]:
    """Apply the action to each run. A refused one changes nothing for the others."""
    return [await _change(engine, principal, run_id, body) for run_id in dict.fromkeys(body.run_ids)]


async def _change(engine: ExecutionBackend, principal: Principal, run_id: str, body: RunsChangeIn) -> RunChange:
    try:
        outcome = await _apply(engine, principal, run_id, body)
    except HeadgateError as error:
        return RunChange(run_id=run_id, status=None, changed=False, problem=BulkProblem.model_validate(error.problem()))
    return RunChange(run_id=run_id, status=outcome.status, changed=outcome.changed, problem=None)


async def _apply(
    engine: ExecutionBackend, principal: Principal, run_id: str, body: RunsChangeIn
) -> CancelOut | PauseOut:
    match body.action:
        case "cancel":
            return await service.cancel_run(engine, principal, run_id)
        case "pause":
            return await pausing.pause_run(engine, principal, run_id)
        case "continue":
            return await pausing.continue_run(engine, principal, run_id)
