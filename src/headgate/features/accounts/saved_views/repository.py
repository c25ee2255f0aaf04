"""Queries on saved views. The tenant is always required."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.saved_views.tables import SavedViewRow
from headgate.foundation.database import insert_into
from headgate.foundation.ids import new_id

_V = SavedViewRow


async def list_views(session: AsyncSession, user_id: str, place: str, *, tenant_id: str) -> Sequence[SavedViewRow]:
    """Return the views of a user and list, by name."""
    query = select(_V).where(_V.user_id == user_id, _V.place == place, _V.tenant_id == tenant_id)
    return (await session.execute(query.order_by(_V.name))).scalars().all()


async def put_view(
    session: AsyncSession, user_id: str, place: str, name: str, settings: dict[str, Any], *, tenant_id: str
) -> None:
    """Save a view; one of the same name is replaced."""
    values = {"id": new_id(), "tenant_id": tenant_id, "user_id": user_id, "place": place, "name": name}
    insert = insert_into(session, _V).values(**values, settings=settings)
    insert = insert.on_conflict_do_update(index_elements=["user_id", "place", "name"], set_={"settings": settings})
    await session.execute(insert)


async def delete_view(session: AsyncSession, user_id: str, view_id: str, *, tenant_id: str) -> bool:
    """Delete a view; False when the user has none of this id."""
    row = delete(_V).where(_V.id == view_id, _V.user_id == user_id, _V.tenant_id == tenant_id).returning(_V.id)
    return (await session.execute(row)).first() is not None
