"""Every query on spaces and their members. The tenant is always required."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Space


async def list_spaces(
    session: AsyncSession, *, tenant_id: str, limit: int, after: str | None = None
) -> Sequence[Space]:
    """Spaces in the order they were made; `after` is the id of the last one of the page before."""
    query = select(Space).where(Space.tenant_id == tenant_id)
    if after is not None:
        query = query.where(Space.id > after)
    return (await session.execute(query.order_by(Space.id).limit(limit))).scalars().all()


async def add_space(session: AsyncSession, space: Space) -> None:
    """Keep a new space. Raises `IntegrityError` when the tenant has one of that name."""
    async with session.begin_nested():
        session.add(space)
