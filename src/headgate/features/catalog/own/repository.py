"""Queries on custom components. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.catalog.own.tables import OwnComponent
from headgate.foundation.database import insert_into, now


async def list_components(session: AsyncSession, hashes: Collection[str], *, tenant_id: str) -> Sequence[OwnComponent]:
    """Return the stored components with these code hashes, in one query."""
    query = select(OwnComponent).where(OwnComponent.tenant_id == tenant_id, OwnComponent.code_hash.in_(hashes))
    return (await session.execute(query)).scalars().all()


async def add_component(
    session: AsyncSession,
    *,
    tenant_id: str,
    code_hash: str,
    type_: str,
    template: dict[str, object],
    manifest: dict[str, object],
) -> bool:
    """Store the facts about code; returns whether it was new. An existing row stays unchanged."""
    values = {
        "tenant_id": tenant_id,
        "code_hash": code_hash,
        "type": type_,
        "template": template,
        "manifest": manifest,
        "checked_at": now(),
    }
    insert = insert_into(session, OwnComponent).values(values)
    statement = insert.on_conflict_do_nothing().returning(OwnComponent.code_hash)
    return (await session.execute(statement)).scalar_one_or_none() is not None
