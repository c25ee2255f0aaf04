"""Runs of the draft as tests: real runs on the engine, whose evidence is kept like that of any run."""

import asyncio
import hashlib

from headgate.agents.codev.domain import TrialResult
from headgate.agents.codev.domains.headgate.place import Place
from headgate.features.flows.errors import FlowNotFound
from headgate.features.runs import service as runs
from headgate.features.runs.schemas import RunOut, RunStart
from headgate.foundation.checked import checked
from headgate.foundation.errors import Forbidden, HeadgateError, NotFound, Unavailable
from headgate.foundation.ids import new_id
from headgate.graph.cases import TestCase


async def run_once(place: Place, flow_id: str, case: TestCase, *, session: str, seconds: float) -> TrialResult:
    """Run a case once, in a chat of its own, and cancel the run when it takes longer or its caller is cancelled.

    What the flow does wrong is the result's `error`. Raises `FlowNotFound`, `PermissionMissing`, `Unavailable`.
    """
    try:
        start = checked(
            RunStart, text=case.text, form_data=dict(case.form), file_ids=case.file_ids, session_id=_chat(session)
        )
        key = await runs.start_run(place.studio.database, place.studio.engine, place.principal, flow_id, start)
    except (FlowNotFound, Forbidden, Unavailable):
        raise
    except HeadgateError as error:
        return TrialResult("", error=_said(error))
    return await _waited_for(place, flow_id, key.run_id, seconds)


async def _waited_for(place: Place, flow_id: str, run_id: str, seconds: float) -> TrialResult:
    engine = place.studio.engine
    try:
        async with asyncio.timeout(seconds):
            await engine.wait(run_id)
    except TimeoutError:
        await runs.cancel_run(engine, place.principal, run_id)
        late = f"The run was not over after {seconds:.0f} seconds and was cancelled."
        return _result(flow_id, await runs.answer_of(engine, place.principal, run_id), late)
    except asyncio.CancelledError:
        await asyncio.shield(runs.cancel_run(engine, place.principal, run_id))
        raise
    run = await runs.answer_of(engine, place.principal, run_id)
    try:
        return _result(flow_id, run, _why(run), await runs.whole_answer(engine, place.principal, run))
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
    """Why a run gave no answer, with the step that failed."""
    if run.status == "completed":
        return ""
    failed = next((step for step in run.steps if step.error is not None), None)
    if failed is not None and failed.error is not None:
        return f"Step '{failed.step_id}' ({failed.type}) failed: {failed.error.message}"
    return run.error.message if run.error is not None else f"The run was {run.status}."


def _said(error: HeadgateError) -> str:
    return f"The flow could not be run: {error.detail} {error.remedy}".strip()


def _chat(session: str) -> str:
    """An id that no other trial has: a trial that is made again remembers nothing of the first."""
    return f"codev-{hashlib.sha256(session.encode()).hexdigest()[:12]}-{new_id()}"
