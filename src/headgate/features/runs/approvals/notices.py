"""Notices of approvals by webhook, mail and chat: when users are asked, as reminders, and when others are asked too.

Each is a row that is due at a time, written with the approval. It is sent once, and retried with the same key when it
failed, or when its process died before the outcome was stored: a webhook is signed like every delivery, mail and chat
go through a connection. It is not sent once the approval is decided. A webhook names the approval and shows nothing of
the run: its content may be classified.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, SecretStr
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.mail.messages import addresses
from headgate.features.jobs.leases import MICROSECONDS
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs.approvals.posting import Post, Poster
from headgate.features.runs.approvals.tables import ApprovalLinkRow, ApprovalNoticeRow, ApprovalRow
from headgate.features.runs.approvals.words import Language
from headgate.features.runs.deliveries.attempt import Outcome, Sender
from headgate.features.runs.deliveries.settling import settle
from headgate.features.runs.deliveries.target import NOT_AN_ADDRESS, Target, open_target
from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import RunKey, clock
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.guarded_http import shown_url
from headgate.foundation.ids import new_id
from headgate.foundation.webhooks import delivery_key
from headgate.graph.names import clipped
from headgate.sdk.approvals import ApprovalRequest

KIND = "approval_notices"
URL_VARIABLE = "APPROVAL_WEBHOOK_URL"
"""The variable of the space with the address of notices whose step sets none."""
CONNECTION_VARIABLE = "APPROVAL_CONNECTION"
"""The variable of the space with the name of the connection for notices whose step names none."""
LANGUAGE_VARIABLE = "APPROVAL_LANGUAGE"
"""The variable of the space with the language of notices by mail and chat whose step names none: en or sv."""
LATER_SECONDS = (5, 60, 300, 1800, 7200)
"""Waits before each further attempt."""
MOST_AT_ONCE = 8
_TABLE: Any = ApprovalNoticeRow.__table__
QUEUE = Queue(_TABLE)


async def add_notices(
    session: AsyncSession,
    approval: ApprovalRow,
    request: ApprovalRequest,
    *,
    url: str,
    connection: str,
    language: Language,
    public_url: str,
    box: Sealer,
) -> None:
    """Store the notices of a new approval, each with the time at which it is due: by webhook, connection or both."""
    moments = [("asked", 0.0), *(("reminder", seconds) for seconds in sorted(request.reminder_seconds))]
    if request.escalation_seconds is not None:
        moments.append(("escalated", request.escalation_seconds))
    number = 0
    for name in ([""] if url else []) + ([connection] if connection else []):
        for kind, seconds in moments:
            target: BaseModel = Post(language=language) if name else _target(kind, approval, request, url, public_url)
            shown = "" if name else _shown(url)
            due_at = approval.created_at + int(seconds * MICROSECONDS)
            session.add(_row(approval, number, kind, target, box, url_shown=shown, connection=name, due_at=due_at))
            number += 1


async def add_link_notice(
    session: AsyncSession, approval: ApprovalRow, link: ApprovalLinkRow, url: str, *, box: Sealer
) -> None:
    """Store the mail with a one-time link. Raises `Invalid` for an approval without a connection for notices."""
    await session.execute(select(ApprovalRow.id).where(ApprovalRow.id == approval.id).with_for_update())
    notices = await list_notices(session, [approval.id], tenant_id=approval.tenant_id)
    first = next((notice for notice in notices if notice.connection), None)
    if first is None:
        raise Invalid(
            "The approval has no connection for notices, so the link cannot be sent by mail.",
            remedy=f"Set the notice connection of the step or the variable {CONNECTION_VARIABLE}, or send it yourself.",
        )
    require_address(link.recipient)
    number = max(notice.number for notice in notices) + 1
    language = Post.model_validate_json(box.decrypt(first.target).get_secret_value()).language
    post, at, name = Post(link_url=url, language=language), link.created_at, str(first.connection)
    notice = _row(approval, number, "asked", post, box, url_shown=link.recipient, connection=name, due_at=at)
    notice.link_id, notice.created_at = link.id, link.created_at
    session.add(notice)


def require_address(recipient: str) -> None:
    """Raise `Invalid` unless the recipient of a link is one mail address."""
    if len(addresses(recipient, field="recipient")) != 1:
        raise Invalid(f"{clipped(recipient, 80)!r} is not a mail address.", remedy="Write it as eva@customer.example.")


def _row(
    approval: ApprovalRow,
    number: int,
    kind: str,
    target: BaseModel,
    box: Sealer,
    *,
    url_shown: str,
    connection: str,
    due_at: int,
) -> ApprovalNoticeRow:
    return ApprovalNoticeRow(
        id=new_id(),
        tenant_id=approval.tenant_id,
        approval_id=approval.id,
        number=number,
        kind=kind,
        status="pending",
        target=_sealed(box, target),
        url_shown=url_shown,
        connection=connection or None,
        idempotency_key=delivery_key(approval.id, str(number)),
        created_at=approval.created_at,
        due_at=due_at,
        attempts=0,
    )


def _sealed(box: Sealer, target: BaseModel) -> bytes:
    return box.encrypt(SecretStr(target.model_dump_json()))


def _shown(url: str) -> str:
    try:
        return shown_url(url)
    except HeadgateError:  # reported when it is sent
        return NOT_AN_ADDRESS


def _target(kind: str, approval: ApprovalRow, request: ApprovalRequest, url: str, public_url: str) -> Target:
    return Target(url=url, body=orjson.dumps(_body(kind, approval, request, public_url)).decode())


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


async def is_usable(session: AsyncSession, link_id: str, *, tenant_id: str, at: int) -> bool:
    """Return whether a one-time link is still there, unused and not expired."""
    link = ApprovalLinkRow
    query = select(link.id).where(
        link.id == link_id, link.tenant_id == tenant_id, link.used_at.is_(None), link.expires_at > at
    )
    return (await session.execute(query)).first() is not None


class NoticeSender:
    """Sends notices, as one kind of job.

    Args:
        database: Holds the notices.
        box: Decrypts their targets.
        sender: Makes one attempt by webhook.
        poster: Makes one attempt by mail or chat.
        jobs: Runs due notices.
    """

    def __init__(self, database: Database, box: SecretBox, sender: Sender, poster: Poster, jobs: JobRunner) -> None:
        self._database = database
        self._box = box
        self._sender = sender
        self._poster = poster
        jobs.register(JobKind(KIND, QUEUE, self._send, MOST_AT_ONCE, retry_seconds=LATER_SECONDS[0]))

    async def _send(self, job: Job) -> None:
        async with self._database.writing() as session:
            approval = await self._pending(session, job)
            if approval is None:
                await self._finish(session, job, status="cancelled")
                return
        outcome, at = await self._attempt(job, approval), clock()
        await patiently(lambda: self._settle(job, outcome, at))

    async def _pending(self, session: AsyncSession, job: Job) -> ApprovalRow | None:
        """Return the approval of a notice, while it waits for decisions."""
        row, now = ApprovalRow, clock()
        query = select(row).join(flow_runs, flow_runs.c.id == row.flow_run_id)
        live = flow_runs.c.status.in_([status.value for status in LIVE_RUNS])
        waits = (row.status == "pending", live, (row.due_at.is_(None)) | (row.due_at > now))
        approval: ApprovalRow | None = (
            await session.execute(query.where(row.id == job.row.approval_id, *waits))
        ).scalar_one_or_none()
        if (
            approval is not None
            and job.row.link_id
            and not await is_usable(session, job.row.link_id, tenant_id=job.row.tenant_id, at=now)
        ):
            return None
        return approval

    async def _attempt(self, job: Job, approval: ApprovalRow) -> Outcome:
        key = RunKey(approval.flow_run_id, approval.tenant_id, approval.flow_id, 0)
        origin = Origin(key, approval.step_id)
        try:
            if job.row.connection:
                post = Post.model_validate_json(self._box.decrypt(job.row.target).get_secret_value())
                return await self._poster.attempt(job.row, post, origin)
            return await self._sender.attempt(open_target(job.row.target, self._box), job.row, origin, None)
        except HeadgateError as error:
            return Outcome(delivered=False, final=True, code=error.code, message=str(error))

    async def _finish(self, session: AsyncSession, job: Job, **values: Any) -> None:  # noqa: ANN401 - columns
        """Finish a notice; the token of a one-time link is erased with it."""
        if job.row.link_id:
            values["target"] = _sealed(self._box, Post())
        await QUEUE.finish(session, job, **values)

    async def _settle(self, job: Job, outcome: Outcome, at: int) -> None:
        """Store the outcome of an attempt; nothing when the claim was lost."""
        async with self._database.writing() as session:
            await settle(session, QUEUE, job, outcome, at, later_seconds=LATER_SECONDS, finish=self._finish)
