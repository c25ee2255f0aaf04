"""Comments on flows and their nodes, with mentions of members of the space."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.members import hold_member
from headgate.features.audit.actions import Action
from headgate.features.flows.comments import repository
from headgate.features.flows.comments.errors import CommentNotFound, NotTheAuthor, TooManyComments
from headgate.features.flows.comments.schemas import CommentIn, CommentOut, CommentPatch, Person
from headgate.features.flows.comments.tables import FlowCommentRow
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.live import announce_change
from headgate.features.flows.service import get_flow, record_change
from headgate.features.flows.tables import FlowRow
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.foundation.shaped import shaped

MOST_COMMENTS = 500
"""Comments on one flow."""


async def list_comments(session: AsyncSession, principal: Principal, flow_id: str) -> list[CommentOut]:
    """List the comments on a flow, oldest first. Raises `FlowNotFound`, `PermissionMissing`."""
    await get_flow(session, principal, flow_id)
    return await _shown(session, flow_id, tenant_id=principal.tenant_id)


async def add_comment(session: AsyncSession, principal: Principal, flow_id: str, body: CommentIn) -> CommentOut:
    """Add a comment. Raises `FlowNotFound`, `PermissionMissing`, `MemberNotFound`, `TooManyComments`."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_COMMENT, lock=True)
    if await repository.count_comments(session, flow_id, tenant_id=principal.tenant_id) >= MOST_COMMENTS:
        raise TooManyComments(MOST_COMMENTS)
    row = FlowCommentRow(
        id=new_id(),
        tenant_id=principal.tenant_id,
        flow_id=flow_id,
        node_id=body.node_id,
        author_user_id=principal.user_id or None,
        text=body.text,
        created_at=now(),
        edited_at=None,
        resolved_at=None,
    )
    session.add(row)
    await session.flush()
    await _mention(session, principal, flow, row.id, body.mentions)
    await _changed(session, principal, flow, "flow.comment_added", row, mentions=body.mentions)
    return await _one(session, flow_id, row.id, tenant_id=principal.tenant_id)


async def change_comment(
    session: AsyncSession, principal: Principal, flow_id: str, comment_id: str, body: CommentPatch
) -> CommentOut:
    """Change text and mentions as the author, or resolve and reopen as anyone who may comment.

    Raises `FlowNotFound`, `PermissionMissing`, `CommentNotFound`, `NotTheAuthor`, `MemberNotFound`.
    """
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_COMMENT)
    row = await _comment(session, principal, flow_id, comment_id)
    if (body.text is not None or body.mentions is not None) and not _is_author(principal, row):
        raise NotTheAuthor
    if body.text is not None and body.text != row.text:
        row.text, row.edited_at = body.text, now()
    if body.resolved is not None and body.resolved != (row.resolved_at is not None):
        row.resolved_at = now() if body.resolved else None
    await session.flush()
    if body.mentions is not None:
        await _mention(session, principal, flow, row.id, body.mentions)
    payload = body.model_dump(exclude={"text"}, exclude_none=True)
    await _changed(session, principal, flow, "flow.comment_changed", row, **payload)
    return await _one(session, flow_id, row.id, tenant_id=principal.tenant_id)


async def delete_comment(session: AsyncSession, principal: Principal, flow_id: str, comment_id: str) -> None:
    """Delete a comment of the caller, or any as a user who manages the space.

    Raises `FlowNotFound`, `PermissionMissing`, `CommentNotFound`, `NotTheAuthor`.
    """
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_COMMENT)
    row = await _comment(session, principal, flow_id, comment_id)
    if not _is_author(principal, row) and not principal.may(Permission.SPACES_MANAGE, flow.space_id):
        raise NotTheAuthor
    await repository.delete_comment(session, comment_id, tenant_id=principal.tenant_id)
    await _changed(session, principal, flow, "flow.comment_deleted", row)


async def _comment(session: AsyncSession, principal: Principal, flow_id: str, comment_id: str) -> FlowCommentRow:
    row = await repository.find_comment(session, flow_id, comment_id, tenant_id=principal.tenant_id)
    if row is None:
        raise CommentNotFound(comment_id)
    return row


def _is_author(principal: Principal, row: FlowCommentRow) -> bool:
    return bool(principal.user_id) and row.author_user_id == principal.user_id


async def _mention(
    session: AsyncSession, principal: Principal, flow: FlowRow, comment_id: str, user_ids: Sequence[str]
) -> None:
    """Store the mentions: of members of the space, who can view the flow."""
    mentioned = list(dict.fromkeys(user_ids))
    for user_id in mentioned:
        principal.require_in(flow.space_id, Permission.FLOWS_COMMENT, FlowNotFound(flow.id))
        await hold_member(session, principal, flow.space_id, user_id)
    await repository.set_mentions(session, comment_id, mentioned, tenant_id=principal.tenant_id)


async def _changed(
    session: AsyncSession, principal: Principal, flow: FlowRow, action: Action, row: FlowCommentRow, **more: object
) -> None:
    """Record the change without its text, and announce it to those who have the flow open."""
    about = {"comment_id": row.id, "node_id": row.node_id, **more}
    await record_change(session, principal, flow, action, payload=about)
    announce_change(session, principal, flow.id, "comments_changed", comment_id=row.id)


async def _one(session: AsyncSession, flow_id: str, comment_id: str, *, tenant_id: str) -> CommentOut:
    (comment,) = await _shown(session, flow_id, tenant_id=tenant_id, comment_id=comment_id)
    return comment


async def _shown(
    session: AsyncSession, flow_id: str, *, tenant_id: str, comment_id: str | None = None
) -> list[CommentOut]:
    rows = await repository.list_comments(session, flow_id, tenant_id=tenant_id, comment_id=comment_id)
    mentions = await repository.mentions_of(session, [row.id for row, _ in rows], tenant_id=tenant_id)
    return [_out(row, name, mentions.get(row.id, [])) for row, name in rows]


def _out(row: FlowCommentRow, name: str | None, mentions: Sequence[tuple[str, str]]) -> CommentOut:
    return shaped(
        CommentOut,
        row,
        author=None if row.author_user_id is None else Person(user_id=row.author_user_id, name=name or ""),
        mentions=[Person(user_id=user_id, name=name) for user_id, name in mentions],
    )
