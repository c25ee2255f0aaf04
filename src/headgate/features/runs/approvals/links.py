"""One-time links, with which somebody outside decides one approval in place of the user who created the link."""

from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.sessions.tokens import hash_of, new_token
from headgate.features.accounts.standing import access_of
from headgate.features.accounts.tables import User
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.runs.approvals import repository, service
from headgate.features.runs.approvals.errors import LinkRefused, NotAssigned
from headgate.features.runs.approvals.notices import add_link_notice
from headgate.features.runs.approvals.schemas import (
    DecisionIn,
    NewReviewLinkOut,
    Refusal,
    ReviewLinkIn,
    ReviewLinkOut,
    ReviewOut,
)
from headgate.features.runs.approvals.tables import ApprovalLinkRow, ApprovalRow
from headgate.features.runs.approvals.views import refusal_of, shown_of
from headgate.features.runs.errors import ClassRefused
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.transitions import clock
from headgate.foundation.database import moment
from headgate.foundation.ids import new_id
from headgate.graph.classification import Scheme

PAGE = "/review"
MOST_LINKS = 20
"""Links of one approval."""
_LATE = {None, "over", "timed_out", "already_decided"}
"""Refusals that are about the decision and not about the right of the link's creator."""


async def create_link(
    session: AsyncSession,
    principal: Principal,
    approval_id: str,
    link_in: ReviewLinkIn,
    *,
    server: str,
    scheme: Scheme | None,
    box: Sealer,
) -> NewReviewLinkOut:
    """Create a link. Only a user who may decide the approval now can pass the decision on.

    The decision of its holder takes the place of that user's own: n of m users stay n of m. `scheme` is None while
    classifications are disabled.

    Raises `ApprovalNotFound`, `PermissionMissing`, `NotAssigned`, `ClassRefused`, or `Invalid` for a link to be
    sent without a mail address or a notice connection.
    """
    row = await service.find_visible(session, principal, approval_id, Permission.RUNS_START)
    approval: ApprovalRow = row[0]
    decisions = await repository.list_decisions(session, [approval_id], tenant_id=principal.tenant_id)
    links = await list_links(session, approval_id, tenant_id=principal.tenant_id)
    if refusal_of(principal, row, decisions) is not None or len(links) >= MOST_LINKS:
        raise NotAssigned(
            "You cannot pass this decision on: it is not yours to make, or the approval has too many links.",
            remedy="Ask one of its assignees to create the link, or delete unused links.",
        )
    _check_classification(approval, scheme)
    token, at = new_token(), clock()
    expires_at = at + int(timedelta(hours=link_in.hours).total_seconds() * 1_000_000)
    link = ApprovalLinkRow(
        id=new_id(),
        tenant_id=principal.tenant_id,
        approval_id=approval_id,
        token_hash=hash_of(token),
        recipient=link_in.recipient,
        user_id=principal.user_id,
        created_at=at,
        expires_at=expires_at if approval.due_at is None else min(expires_at, approval.due_at),
    )
    session.add(link)
    await session.flush()
    await _record(session, principal, "approval.link_created", row, link)
    url = f"{server.rstrip('/')}{PAGE}#token={token}"
    if link_in.send:
        await add_link_notice(session, approval, link, url, box=box)
    return NewReviewLinkOut(**_out(link).model_dump(), url=url)


async def get_links(session: AsyncSession, principal: Principal, approval_id: str) -> list[ReviewLinkOut]:
    """List the links of an approval, without their tokens. Raises `ApprovalNotFound`, `PermissionMissing`."""
    await service.find_visible(session, principal, approval_id, Permission.RUNS_VIEW)
    return [_out(link) for link in await list_links(session, approval_id, tenant_id=principal.tenant_id)]


async def delete_link(session: AsyncSession, principal: Principal, approval_id: str, link_id: str) -> None:
    """Make an unused link invalid. Raises `ApprovalNotFound`, `PermissionMissing`, `LinkRefused`."""
    row = await service.find_visible(session, principal, approval_id, Permission.RUNS_START)
    link = ApprovalLinkRow
    same = (link.id == link_id, link.approval_id == approval_id, link.tenant_id == principal.tenant_id)
    query = delete(link).where(*same, link.used_at.is_(None)).returning(link)
    link_row = (await session.execute(query)).scalar_one_or_none()
    if link_row is None:
        raise LinkRefused
    await _record(session, principal, "approval.link_deleted", row, link_row)


async def read_review(session: AsyncSession, token: str, *, box: Sealer, scheme: Scheme | None) -> ReviewOut:
    """Return what the holder of a link decides. It changes nothing. Raises `LinkRefused`."""
    link, row, refusal = await _usable(session, token, scheme)
    if refusal in {"over", "timed_out"}:
        raise LinkRefused
    return ReviewOut.model_validate(
        {
            "recipient": link.recipient,
            "flow_name": row.flow_name,
            "content_hash": row[0].content_hash,
            "expires_at": moment(link.expires_at),
            "tool": "",
            **shown_of(box, row[0]),
        }
    )


async def decide_by_link(
    session: AsyncSession,
    token: str,
    decision_in: DecisionIn,
    *,
    address: str | None,
    box: Sealer,
    scheme: Scheme | None,
) -> None:
    """Use a link once and store the decision, in one transaction. A refused decision leaves it usable.

    Raises `LinkRefused`, `ApprovalDecided`, `ContentChanged` or `ResponseInvalid`.
    """
    link, approval, _ = await _usable(session, token, scheme)
    row, at = ApprovalLinkRow, clock()
    used = update(row).where(row.id == link.id, row.used_at.is_(None), row.expires_at > at).values(used_at=at)
    if (await session.execute(used.returning(row.id))).first() is None:
        raise LinkRefused
    reviewer = Principal(
        tenant_id=link.tenant_id,
        user_id=link.user_id,
        space_id=approval[0].space_id,
        access=Access(visitor=True),
        actor=Actor("system", f"{link.recipient} by link", address=address),
    )
    await service.store_decision(session, reviewer, approval, decision_in, box=box, outside=link.recipient)


async def list_links(session: AsyncSession, approval_id: str, *, tenant_id: str) -> list[ApprovalLinkRow]:
    """List the links of an approval, oldest first."""
    row = ApprovalLinkRow
    query = select(row).where(row.approval_id == approval_id, row.tenant_id == tenant_id).order_by(row.id)
    return list((await session.execute(query)).scalars().all())


async def _usable(
    session: AsyncSession, token: str, scheme: Scheme | None
) -> tuple[ApprovalLinkRow, repository.AnyRow, Refusal | None]:
    """Return the link of a token, its approval, and why its creator could not decide it now.

    Raises `LinkRefused`, also once the creator is no longer among those who may decide.
    """
    row = ApprovalLinkRow
    query = (
        select(row, User)
        .join(User, (User.id == row.user_id) & (User.tenant_id == row.tenant_id))
        .where(row.token_hash == hash_of(token), row.used_at.is_(None), row.expires_at > clock(), User.active)
    )
    link_and_creator = (await session.execute(query)).one_or_none()
    if link_and_creator is None:
        raise LinkRefused
    link, creator = link_and_creator
    approval = await repository.find_approval(session, link.approval_id, tenant_id=link.tenant_id)
    if approval is None:
        raise LinkRefused
    try:
        _check_classification(approval[0], scheme)
    except ClassRefused:
        raise LinkRefused from None
    decisions = await repository.list_decisions(session, [link.approval_id], tenant_id=link.tenant_id)
    principal = Principal(link.tenant_id, link.user_id, approval[0].space_id, await access_of(session, creator))
    refusal = refusal_of(principal, approval, decisions)
    if refusal not in _LATE:
        raise LinkRefused
    return link, approval, refusal


def _check_classification(approval: ApprovalRow, scheme: Scheme | None) -> None:
    """Raise `ClassRefused` for an approval that may not be shown outside, or whose classification is unknown."""
    if scheme is None:
        return
    level, limit = approval.classification, scheme.external_max
    if level is None or level > limit:
        name = "of unknown classification" if level is None else f"classified {scheme.name(level)}"
        raise ClassRefused(
            f"The approval shows data {name}; at most {scheme.name(limit)} may be shown outside.",
            remedy="Decide it yourself, or ask another assignee with an account.",
        )


async def _record(
    session: AsyncSession, principal: Principal, action: Action, row: repository.AnyRow, link: ApprovalLinkRow
) -> None:
    payload = {"link_id": link.id, "recipient": link.recipient, "expires_at": moment(link.expires_at).isoformat()}
    await record(
        session, principal, action, id=row[0].id, name=row.flow_name, space_id=row[0].space_id, payload=payload
    )


def _out(link: ApprovalLinkRow) -> ReviewLinkOut:
    return ReviewLinkOut(
        id=link.id,
        recipient=link.recipient,
        user_id=link.user_id,
        created_at=moment(link.created_at),
        expires_at=moment(link.expires_at),
        used_at=None if link.used_at is None else moment(link.used_at),
    )
