"""What the steps of a run wait for, in words: who decides, which event, which run, which limit."""

from collections.abc import Iterable
from contextlib import suppress

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.approvals import service as approvals
from headgate.features.runs.approvals.schemas import ApprovalSummary, AssigneeOut
from headgate.features.runs.limits import service as limits
from headgate.features.runs.schemas import RunOut, StepSummary
from headgate.features.runs.sent_events import service as sent_events
from headgate.features.runs.waiting import ANSWERED, WaitReason, waiting_words
from headgate.foundation.errors import Unavailable
from headgate.graph.names import listed
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.stored.visit import Visit

MOST_APPROVALS = 20
_HINTS = {
    "approval": "The run waits for approval. list_approvals with run_id {run_id} names it; read_run shows the result"
    " later.",
    "event": "The run waits for an event. read_run of {run_id} names it; send_event continues the run.",
}
_WAITS_BY_ITSELF = "The run waits for a time and continues by itself. read_run of {run_id} shows until when."
Detail = tuple[str, str]
"""The id of a step, and what it waits for."""


def waiting_hint(run: RunOutcome) -> str:
    """Return what a client of a run that waits does next."""
    return _HINTS.get(run.waits_for, _WAITS_BY_ITSELF).format(run_id=run.waiting_run_id or run.run_id)


async def waits_of(visit: Visit, run: RunOut) -> dict[str, str]:
    """Return what each waiting step of a run waits for, by step id."""
    waiting = {step.step_id: step for step in run.steps if step.waiting is not None}
    reasons = {step.waiting.reason for step in waiting.values() if step.waiting is not None}
    details = [detail for step in waiting.values() for detail in _failures(step)]
    async with visit.studio.database.reading() as session:
        if WaitReason.APPROVAL in reasons:
            details += await _approvals(session, visit, run.id)
        if WaitReason.EVENT in reasons:
            details += await _events(session, visit, run.id)
    if WaitReason.SLOT in reasons:
        details += await _slots(visit, run.id, waiting)
    if WaitReason.RUN in reasons:
        details += await _below(visit, run.id, waiting.values())
    return {
        step_id: _words(step, [what for key, what in details if key == step_id]) for step_id, step in waiting.items()
    }


def _words(step: StepSummary, details: list[str]) -> str:
    if step.waiting is not None and step.waiting.answered:
        return ANSWERED
    until = step.waiting.until if step.waiting is not None else None
    words = waiting_words(step.waiting.reason, until and until.isoformat()) if step.waiting is not None else ""
    return f"{words}: {'; '.join(details)}" if details else words


async def _approvals(session: AsyncSession, visit: Visit, run_id: str) -> list[Detail]:
    with suppress(Unavailable):  # without the key of the installation no question can be read
        rows = await approvals.list_approvals(
            session,
            visit.principal,
            box=visit.studio.sealer(),
            status="pending",
            run_id=run_id,
            limit=MOST_APPROVALS,
        )
        return [(row.step_id, _approval(row)) for row in rows]
    return []


def _approval(row: ApprovalSummary) -> str:
    what = f"the call of {row.tool}" if row.tool else f"'{row.question}'"
    who = _names(row.assignees) or "every user who may run the flow"
    parts = [f"{what} ({row.approvals} of {row.needed} approvals)", f"by {who}"]
    if row.not_starter:
        parts.append("not by the user who started the run")
    if row.escalates_at is not None:
        parts.append(f"from {row.escalates_at.isoformat()} also by {_names(row.escalation)}")
    return ", ".join(parts)


def _names(assignees: list[AssigneeOut]) -> str:
    return listed([f"role {user.role}" if user.role else user.name for user in assignees], most=8) if assignees else ""


async def _events(session: AsyncSession, visit: Visit, run_id: str) -> list[Detail]:
    rows = await sent_events.list_waiting(session, visit.principal, run_id=run_id)
    return [
        (row.step_id, f"{row.name}, correlation '{row.correlation}'" if row.correlation else row.name) for row in rows
    ]


async def _slots(visit: Visit, run_id: str, waiting: Iterable[str]) -> list[Detail]:
    slots = (await limits.limits_of_run(visit.studio.engine, visit.principal, run_id)).slots
    return [
        (step_id, f"limit {slot.most} of {slot.name}, {slot.ahead} wait before it")
        for slot in slots
        if not slot.granted
        for step_id in waiting
        if slot.step_id in {None, step_id}
    ]


async def _below(visit: Visit, run_id: str, waiting: Iterable[StepSummary]) -> list[Detail]:
    """Return which step of which run below waits for a user, an event or a time."""
    wait = await visit.studio.engine.store.run_wait(run_id, visit.principal.tenant_id, longest_seconds=0)
    if wait is None or wait.run_id == run_id:
        return []
    what = f"step '{wait.step_id}' of run {wait.run_id} waits for {waiting_words(wait.reason, None)}"
    return [
        (step.step_id, what) for step in waiting if step.waiting is not None and step.waiting.reason is WaitReason.RUN
    ]


def _failures(step: StepSummary) -> list[Detail]:
    if step.waiting is None or step.waiting.reason is not WaitReason.RETRY:
        return []
    error = f"; {step.error.code}: {step.error.message}" if step.error is not None else ""
    return [(step.step_id, f"{step.failures} of {step.max_attempts} attempts failed{error}")]
