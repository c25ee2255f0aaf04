"""Restores an ended run to build a new one on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.runs import repository
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.recovery import LONGEST_HISTORY
from headgate.features.runs.errors import RunNotOver
from headgate.features.runs.events import RunEvents
from headgate.features.runs.permitted import find_run
from headgate.features.runs.run_input import run_input_of
from headgate.features.runs.states import RunStatus, StepStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.hashes import hash_of, run_pin
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.payloads import unpack
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.transitions import PastTurn, RunKey
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError


@dataclass(frozen=True)
class PastRun:
    """A run with its plan, its rows and its input."""

    key: RunKey
    status: RunStatus
    user_id: str | None
    session_id: str | None
    input_payload: Mapping[str, Any]
    planned: PlannedFlow
    steps: Mapping[str, Any]
    """Step id to row, in order."""
    part: Mapping[str, Any] | None
    """The part of its flow that was executed; None: all of it."""
    payers: Mapping[str, int]
    """Runs that paid for its reused results, with their versions."""

    @property
    def outcomes(self) -> dict[str, StepStatus]:
        """Step id to outcome."""
        return {step_id: StepStatus(row.status) for step_id, row in self.steps.items()}

    @property
    def reusable(self) -> dict[str, StepStatus]:
        """Outcomes for reuse: pinned outputs are not results, and excluded steps were not skipped."""
        if self.part is None:
            return self.outcomes
        pinned = self.part["pinned"]
        return {
            step_id: StepStatus.PENDING if status is StepStatus.SKIPPED or step_id in pinned else status
            for step_id, status in self.outcomes.items()
        }

    @property
    def first_failed(self) -> str | None:
        """The first failed step; without one, the first step without a result. None when all have one."""
        outcomes = self.outcomes
        failed = [step_id for step_id, status in outcomes.items() if status is StepStatus.FAILED]
        return next(iter(failed or [step_id for step_id, status in outcomes.items() if not status.settled]), None)


async def read_past_run(database: Database, engine: ExecutionBackend, principal: Principal, run_id: str) -> PastRun:
    """Read an ended run that the caller may rerun.

    Raises `RunNotFound`, `PermissionMissing`, `RunNotOver`, or `FlowInvalid`.
    """
    tenant_id = principal.tenant_id
    async with database.reading() as session:
        row = await find_run(session, principal, run_id, Permission.RUNS_START)
        steps = await repository.list_steps(session, run_id, tenant_id=tenant_id)
        payers = {step.reused_from_run_id for step in steps} - {None}
        versions = await repository.versions_of(session, payers, tenant_id=tenant_id)
    status = RunStatus(row.status)
    if not status.over:
        raise RunNotOver(f"Run '{run_id}' is still {status}.", remedy="Wait until it has ended, or cancel it first.")
    key = RunKey(row.id, row.tenant_id, row.flow_id, row.version)
    return PastRun(
        key=key,
        status=status,
        user_id=row.user_id,
        session_id=row.session_id,
        input_payload=row.input_payload,
        planned=await engine.plans.of(key),
        steps={step.step_id: step for step in steps},
        part=row.part,
        payers=versions,
    )


async def history_of(
    engine: ExecutionBackend, key: RunKey, session_id: str | None, user_id: str | None
) -> Sequence[PastTurn]:
    """Return the chat history of a past or new run."""
    return await engine.store.past_turns(key, session_id, user_id, LONGEST_HISTORY) if session_id else ()


async def input_readers(engine: ExecutionBackend, past: PastRun) -> frozenset[str]:
    """Return steps with a result that read the run's input, or may have.

    A step refers to the input in its definition, or its component read it at run time. The second is detected by its
    execution hash, which covers the input only if it was read: a step that never read it has the same hash when
    computed without the input.
    """
    outcomes = past.outcomes
    completed = [step_id for step_id, status in outcomes.items() if status is StepStatus.COMPLETED]
    run = ActiveRun(
        key=past.key,
        planned=past.planned,
        input=run_input_of(orjson.dumps(past.input_payload).decode()),
        started_at=0,
        ledger=Ledger(past.planned),
        events=RunEvents(engine.services.bus, past.key.run_id),
    )
    readers: set[str] = set()
    for step_id in completed:
        step = past.planned.steps.get(step_id)
        readable = await _take_in(engine, run, past, step_id)
        if step is None or step.reads_input or not readable or not _ignored_input(run, past, step_id):
            readers.add(step_id)
    return frozenset(readers)


async def _take_in(engine: ExecutionBackend, run: ActiveRun, past: PastRun, step_id: str) -> bool:
    """Add a step's outputs to the run's ledger. Returns False when they can no longer be read."""
    payload = orjson.dumps(past.steps[step_id].output_payload).decode()
    try:
        run.ledger.results[step_id] = await unpack(payload, past.key.tenant_id, engine.services.files)
    except HeadgateError:
        return False
    return True


def _ignored_input(run: ActiveRun, past: PastRun, step_id: str) -> bool:
    """Whether a step certainly did not read the run's input."""
    row = past.steps[step_id]
    payer = row.reused_from_run_id
    version = past.key.version if payer is None else past.payers.get(payer)
    if version is None:
        return False
    pin = run_pin(payer or past.key.run_id, version)
    try:
        recomputed = hash_of(run, past.planned.steps[step_id], row.input_payload or {}, pin=pin, reads_input=False)
    except KeyError:  # its input is not available for hashing
        return False
    return bool(recomputed == row.execution_hash)
