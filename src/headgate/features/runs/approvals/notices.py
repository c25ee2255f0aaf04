"""Notices of approvals by webhook: when users are asked, as reminders, and when others are asked too.

Each is a row that is due at a time, written with the approval. It is sent once, signed like every delivery, and retried
with the same `Idempotency-Key`. It is not sent once the approval is decided. It names the approval and shows nothing of
the run: its content may be classified.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import SecretStr
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.leases import MICROSECONDS
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs.approvals.tables import ApprovalNoticeRow, ApprovalRow
from headgate.features.runs.deliveries.attempt import Outcome, Sender
from headgate.features.runs.deliveries.target import NOT_AN_ADDRESS, Target, open_target
from headgate.features.runs.ports import Origin, Sealer
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import RunKey, clock
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import shown_url, spread
from headgate.foundation.ids import new_id
from headgate.foundation.webhooks import delivery_key
from headgate.sdk.approvals import ApprovalRequest

KIND = "approval_notices"
URL_VARIABLE = "APPROVAL_WEBHOOK_URL"
"""The variable of the space with the address of notices whose step sets none."""
LATER_SECONDS = (5, 60, 300, 1800, 7200)
"""Waits before each further attempt."""
MOST_AT_ONCE = 8
_TABLE: Any = ApprovalNoticeRow.__table__
QUEUE = Queue(_TABLE)


async def add_notices(
    session: AsyncSession, approval: ApprovalRow, request: ApprovalRequest, url: str, public_url: str, *, box: Sealer
) -> None:
    """Store the notices of a new approval, each with the time at which it is due."""
    moments = [("asked", 0.0), *(("reminder", seconds) for seconds in sorted(request.reminder_seconds))]
    if request.escalation_seconds is not None:
        moments.append(("escalated", request.escalation_seconds))
    try:
        url_shown = shown_url(url)
    except HeadgateError:  # reported when it is sent
        url_shown = NOT_AN_ADDRESS
    for number, (kind, seconds) in enumerate(moments):
        target = Target(url=url, body=orjson.dumps(_body(kind, approval, request, public_url)).decode())
        session.add(
            ApprovalNoticeRow(
                id=new_id(),
                tenant_id=approval.tenant_id,
                approval_id=approval.id,
                number=number,
                kind=kind,
                status="pending",
                target=box.encrypt(SecretStr(target.model_dump_json())),
                url_shown=url_shown,
                idempotency_key=delivery_key(approval.id, str(number)),
                created_at=approval.created_at,
                due_at=approval.created_at + int(seconds * MICROSECONDS),
                attempts=0,
            )
        )


def _body(kind: str, approval: ApprovalRow, request: ApprovalRequest, public_url: str) -> dict[str, Any]:
    return {
        "type": f"approval.{kind}",
        "approval_id": approval.id,
        "run_id": approval.flow_run_id,
        "flow_id": approval.flow_id,
        "step_id": approval.step_id,
        "assignees": list(request.assignees),
        **({"also": list(request.escalation)} if kind == "escalated" else {}),
        "content_hash": approval.content_hash,
        "due_at": approval.due_at and approval.due_at // 1000,
        "url": f"{public_url.rstrip('/')}/inbox/{approval.id}" if public_url else None,
    }


async def list_notices(
    session: AsyncSession, approval_ids: Sequence[str], *, tenant_id: str
) -> Sequence[ApprovalNoticeRow]:
    """List the notices of approvals, in the order in which they are due."""
    row = ApprovalNoticeRow
    query = select(row).where(row.approval_id.in_(approval_ids), row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.approval_id, row.number))).scalars().all()


class NoticeSender:
    """Sends notices, as one kind of job.

    Args:
        database: Holds the notices.
        box: Decrypts their targets.
        sender: Makes one attempt.
        jobs: Runs due notices.
    """

    def __init__(self, database: Database, box: SecretBox, sender: Sender, jobs: JobRunner) -> None:
        self._database = database
        self._box = box
        self._sender = sender
        jobs.register(JobKind(KIND, QUEUE, self._send, MOST_AT_ONCE, retry_seconds=LATER_SECONDS[0]))

    async def _send(self, job: Job) -> None:
        async with self._database.writing() as session:
            approval = await self._pending(session, job)
            if approval is None:
                await QUEUE.finish(session, job, status="cancelled")
                return
        outcome = await self._attempt(job, approval)
        async with self._database.writing() as session:
            await self._settle(session, job, outcome)

    async def _pending(self, session: AsyncSession, job: Job) -> ApprovalRow | None:
        """Return the approval of a notice, while it waits for decisions."""
        row, now = ApprovalRow, clock()
        query = select(row).join(flow_runs, flow_runs.c.id == row.flow_run_id)
        live = flow_runs.c.status.in_([status.value for status in LIVE_RUNS])
        waits = (row.status == "pending", live, (row.due_at.is_(None)) | (row.due_at > now))
        approval: ApprovalRow | None = (
            await session.execute(query.where(row.id == job.row.approval_id, *waits))
        ).scalar_one_or_none()
        return approval

    async def _attempt(self, job: Job, approval: ApprovalRow) -> Outcome:
        try:
            target = open_target(job.row.target, self._box)
        except HeadgateError as error:
            return Outcome(delivered=False, final=True, code=error.code, message=str(error))
        key = RunKey(approval.flow_run_id, approval.tenant_id, approval.flow_id, 0)
        return await self._sender.attempt(target, job.row, Origin(key, approval.step_id), None)

    async def _settle(self, session: AsyncSession, job: Job, outcome: Outcome) -> None:
        change: dict[str, Any] = {
            "last_status": outcome.status,
            "error_code": outcome.code,
            "error_message": outcome.message,
        }
        if outcome.delivered:
            await QUEUE.finish(session, job, status="delivered", sent_at=clock(), **change)
        elif outcome.final or job.attempt > len(LATER_SECONDS):
            await QUEUE.finish(session, job, status="failed", **change)
        else:
            due_at = clock() + int(spread(LATER_SECONDS[job.attempt - 1]) * MICROSECONDS)
            await QUEUE.release(session, job, due_at=due_at, **change)
