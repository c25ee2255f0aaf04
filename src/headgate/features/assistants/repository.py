"""Queries on shared assistants. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.assistants.tables import AssistantRow


async def find_assistant(session: AsyncSession, assistant_id: str, *, tenant_id: str) -> AssistantRow | None:
    """One assistant."""
    query = select(AssistantRow).where(AssistantRow.id == assistant_id, AssistantRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_by_names(
    session: AsyncSession, names: Collection[str] | None, *, tenant_id: str, space_id: str
) -> Sequence[AssistantRow]:
    """Return a space's assistants with these names; None: all of the space's."""
    query = select(AssistantRow).where(AssistantRow.tenant_id == tenant_id, AssistantRow.space_id == space_id)
    if names is not None:
        query = query.where(AssistantRow.name.in_(names))
    return (await session.execute(query)).scalars().all()


async def list_assistants(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None, limit: int, after: str | None
) -> Sequence[AssistantRow]:
    """Return assistants, oldest first; `after` is the last id of the previous page, `space_ids` None: of all spaces."""
    query = select(AssistantRow).where(AssistantRow.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(AssistantRow.space_id.in_(space_ids))
    if after is not None:
        query = query.where(AssistantRow.id > after)
    return (await session.execute(query.order_by(AssistantRow.id).limit(limit))).scalars().all()


async def add_assistant(session: AsyncSession, row: AssistantRow) -> None:
    """Insert. Raises SQLAlchemy's `IntegrityError` when the name is taken."""
    session.add(row)
    await session.flush()


async def delete_assistant(session: AsyncSession, row: AssistantRow) -> None:
    """Delete it."""
    await session.delete(row)
    await session.flush()
