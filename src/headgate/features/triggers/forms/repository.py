"""Queries on one-time links. The tenant is always required, except where a visitor opens one."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.triggers.tables import LinkRow, OccurrenceRow


async def find_by_hash(session: AsyncSession, token_hash: str) -> LinkRow | None:
    """Return the link with this hash, of any tenant."""
    return (await session.execute(select(LinkRow).where(LinkRow.token_hash == token_hash))).scalar_one_or_none()


async def add_form_links(session: AsyncSession, rows: Sequence[LinkRow]) -> None:
    """Insert links."""
    session.add_all(rows)
    await session.flush()


async def count_open_links(session: AsyncSession, trigger_id: str, *, tenant_id: str, at: int) -> int:
    """Return how many links of a trigger can still be used."""
    row = LinkRow
    query = select(func.count()).where(
        row.trigger_id == trigger_id,
        row.tenant_id == tenant_id,
        row.used_at.is_(None),
        row.revoked_at.is_(None),
        or_(row.expires_at.is_(None), row.expires_at > at),
    )
    return (await session.execute(query)).scalar_one()


async def list_form_links(
    session: AsyncSession, trigger_id: str, *, tenant_id: str, limit: int, before: str | None
) -> Sequence[Any]:
    """List the links of a trigger with the runs that they started, newest first."""
    row = LinkRow
    query = (
        select(row, OccurrenceRow.flow_run_id)
        .outerjoin(OccurrenceRow, OccurrenceRow.id == row.occurrence_id)
        .where(row.trigger_id == trigger_id, row.tenant_id == tenant_id)
        .execution_options(populate_existing=True)
    )
    if before is not None:
        query = query.where(row.id < before)
    return (await session.execute(query.order_by(row.id.desc()).limit(limit))).all()


async def find_form_link(session: AsyncSession, trigger_id: str, link_id: str, *, tenant_id: str) -> LinkRow | None:
    """Return a link of a trigger."""
    row = LinkRow
    query = select(row).where(row.id == link_id, row.trigger_id == trigger_id, row.tenant_id == tenant_id)
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def revoke_form_link(session: AsyncSession, trigger_id: str, link_id: str, *, tenant_id: str, at: int) -> bool:
    """Revoke a link that is neither used nor revoked. Returns whether it was."""
    row = LinkRow
    change = update(row).where(
        row.id == link_id,
        row.trigger_id == trigger_id,
        row.tenant_id == tenant_id,
        row.used_at.is_(None),
        row.revoked_at.is_(None),
    )
    changed = await session.execute(
        change.values(revoked_at=at).returning(row.id), execution_options={"synchronize_session": False}
    )
    return changed.first() is not None


async def delete_old_links(session: AsyncSession, before: int) -> None:
    """Delete links, of all tenants, that were used, revoked or expired before a time."""
    row = LinkRow
    over = or_(row.used_at < before, row.revoked_at < before, row.expires_at < before)
    await session.execute(delete(row).where(over), execution_options={"synchronize_session": False})
