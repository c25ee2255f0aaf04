"""Test runs of the draft: real runs on the engine, with stored evidence."""

import asyncio
import hashlib
from itertools import count

from headgate.agents.codev.domain import TrialResult
from headgate.agents.codev.domains.headgate.place import Place
from headgate.features.flows.errors import FlowNotFound
from headgate.features.idempotency.keys import StartKey, start_key
from headgate.features.idempotency.service import StartOnce
from headgate.features.runs import service as runs
from headgate.features.runs.schemas import RunOut, RunStart
from headgate.foundation.checked import checked
from headgate.foundation.errors import Forbidden, HeadgateError, NotFound, Unavailable
from headgate.graph.cases import TestCase


async def run_once(place: Place, flow_id: str, case: TestCase, *, session: str, seconds: float) -> TrialResult:
    """Run a case once, in a separate chat; cancel the run on a timeout or when the caller is cancelled.

    What the flow does wrong is the result's `error`. Raises `FlowNotFound`, `PermissionMissing`, `Unavailable`.
    """
    try:
        start = checked(
            RunStart, text=case.text, form_data=dict(case.form), file_ids=case.file_ids, session_id=_chat(session)
        )
        run_id = await _started_once(place, flow_id, start, case, session)
    except (FlowNotFound, Forbidden, Unavailable):
        raise
    except HeadgateError as error:
        return TrialResult("", error=_error_text(error))
    return await _waited_for(place, flow_id, run_id, seconds)


async def _started_once(place: Place, flow_id: str, start: RunStart, case: TestCase, session: str) -> str:
    """Start the run of a trial, or adopt the one that was started before this process was killed. Its id.

    A run that was cancelled, as a session that is stopped cancels its trial, is not adopted.
    """
    database, engine, principal = place.studio.database, place.studio.engine, place.principal
    trial = hashlib.sha256(f"{session}\n{flow_id}\n{case.model_dump_json()}".encode()).hexdigest()

    async def begin(once: StartKey | None) -> str:
        return (await runs.start_run(database, engine, principal, flow_id, start, once=once)).run_id

    async def may_read(run_id: str) -> object:
        return await runs.answer_of(engine, principal, run_id)

    for number in count(1):
        request = StartOnce(database, start_key(principal, f"codev-trial-{trial}-{number}", flow_id))
        run_id = await request.begin(begin, may_read=may_read)
        if not request.replayed or (await runs.answer_of(engine, principal, run_id)).status != "cancelled":
            return run_id
    raise AssertionError("unreachable")


async def _waited_for(place: Place, flow_id: str, run_id: str, seconds: float) -> TrialResult:
    engine = place.studio.engine
    try:
        async with asyncio.timeout(seconds):
            await engine.wait(run_id)
    except TimeoutError:
        await runs.cancel_run(engine, place.principal, run_id)
        late = f"The run did not finish within {seconds:.0f} seconds and was cancelled."
        return _result(flow_id, await runs.answer_of(engine, place.principal, run_id), late)
    except asyncio.CancelledError:
        await asyncio.shield(runs.cancel_run(engine, place.principal, run_id))
        raise
    run = await runs.answer_of(engine, place.principal, run_id)
    try:
        return _result(flow_id, run, _why(run), await runs.complete_text(engine, place.principal, run))
    except NotFound as error:  # what it made is gone
        return _result(flow_id, run, str(error))


def _result(flow_id: str, run: RunOut, error: str, answer: str = "") -> TrialResult:
    return TrialResult(
        answer=answer,
        run_id=run.id,
        error=error,
        duration_ms=round(run.ms or 0),
        input_tokens=sum(step.tokens_input or 0 for step in run.steps),
        output_tokens=sum(step.tokens_output or 0 for step in run.steps),
        link=f"/flows/{flow_id}/runs/{run.id}",
    )


def _why(run: RunOut) -> str:
    """Return why a run has no answer, with the failed step."""
    if run.status == "completed":
        return ""
    failed = next((step for step in run.steps if step.error is not None), None)
    if failed is not None and failed.error is not None:
        return f"Step '{failed.step_id}' ({failed.type}) failed: {failed.error.message}"
    return run.error.message if run.error is not None else f"The run was {run.status}."


def _error_text(error: HeadgateError) -> str:
    return f"The flow could not be run: {error.detail} {error.remedy}".strip()


def _chat(session: str) -> str:
    """The id of the chat of a trial, which no other trial has."""
    return f"codev-{hashlib.sha256(session.encode()).hexdigest()[:32]}"
