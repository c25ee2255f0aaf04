"""Queries on comments. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import Row, and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import User
from headgate.features.flows.comments.tables import FlowCommentMentionRow, FlowCommentRow
from headgate.foundation.database import insert_into


async def list_comments(
    session: AsyncSession, flow_id: str, *, tenant_id: str, comment_id: str | None = None
) -> Sequence[Row[FlowCommentRow, str | None]]:
    """Return the comments on a flow with the names of their authors, oldest first; with an id, only that one."""
    author = and_(User.id == FlowCommentRow.author_user_id, User.tenant_id == FlowCommentRow.tenant_id)
    query = (
        select(FlowCommentRow, User.name)
        .outerjoin(User, author)
        .where(FlowCommentRow.flow_id == flow_id, FlowCommentRow.tenant_id == tenant_id)
    )
    if comment_id is not None:
        query = query.where(FlowCommentRow.id == comment_id)
    return (await session.execute(query.order_by(FlowCommentRow.id))).all()


async def find_comment(
    session: AsyncSession, flow_id: str, comment_id: str, *, tenant_id: str
) -> FlowCommentRow | None:
    """Return a comment on the flow; its row is locked until the transaction ends."""
    row = FlowCommentRow
    query = select(row).where(row.id == comment_id, row.flow_id == flow_id, row.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update())).scalar_one_or_none()


async def count_comments(session: AsyncSession, flow_id: str, *, tenant_id: str) -> int:
    """Return how many comments a flow has."""
    query = select(func.count()).where(FlowCommentRow.flow_id == flow_id, FlowCommentRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one()


async def mentions_of(
    session: AsyncSession, comment_ids: Collection[str], *, tenant_id: str
) -> dict[str, list[tuple[str, str]]]:
    """Return comment id to the ids and names of mentioned users, by name."""
    row = FlowCommentMentionRow
    query = (
        select(row.comment_id, row.user_id, User.name)
        .join(User, and_(User.id == row.user_id, User.tenant_id == row.tenant_id))
        .where(row.comment_id.in_(comment_ids), row.tenant_id == tenant_id)
        .order_by(User.name, User.id)
    )
    mentions: dict[str, list[tuple[str, str]]] = {}
    for comment_id, user_id, name in await session.execute(query):
        mentions.setdefault(comment_id, []).append((user_id, name))
    return mentions


async def set_mentions(session: AsyncSession, comment_id: str, user_ids: Collection[str], *, tenant_id: str) -> None:
    """Replace the mentions of a comment."""
    row = FlowCommentMentionRow
    await session.execute(delete(row).where(row.comment_id == comment_id, row.tenant_id == tenant_id))
    for user_id in user_ids:
        values = {"comment_id": comment_id, "user_id": user_id, "tenant_id": tenant_id}
        await session.execute(insert_into(session, row).values(values))


async def delete_comment(session: AsyncSession, comment_id: str, *, tenant_id: str) -> None:
    """Delete a comment with its mentions."""
    row = FlowCommentRow
    await session.execute(delete(row).where(row.id == comment_id, row.tenant_id == tenant_id))
