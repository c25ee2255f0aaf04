"""Every query on the classes of models. The tenant is always required."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.models.tables import ModelClass
from headgate.foundation.database import insert_into


async def list_classes(session: AsyncSession, *, tenant_id: str) -> Sequence[ModelClass]:
    """The classes that a tenant set, by provider and name."""
    query = select(ModelClass).where(ModelClass.tenant_id == tenant_id).order_by(ModelClass.provider, ModelClass.name)
    return (await session.execute(query)).scalars().all()


async def find_class(session: AsyncSession, *, tenant_id: str, provider: str, name: str) -> ModelClass | None:
    """The class of one model."""
    return await session.get(ModelClass, (tenant_id, provider, name))


async def put_class(session: AsyncSession, *, tenant_id: str, provider: str, name: str, level: int) -> ModelClass:
    """Set a class, new or not, in one statement: two who set it at once both succeed."""
    query = (
        insert_into(session, ModelClass)
        .values(tenant_id=tenant_id, provider=provider, name=name, level=level)
        .on_conflict_do_update(
            index_elements=[ModelClass.tenant_id, ModelClass.provider, ModelClass.name], set_={"level": level}
        )
        .returning(ModelClass)
    )
    return (await session.execute(query, execution_options={"populate_existing": True})).scalar_one()


async def delete_class(session: AsyncSession, *, tenant_id: str, provider: str, name: str) -> bool:
    """Remove a class. Returns whether there was one."""
    query = (
        delete(ModelClass)
        .where(ModelClass.tenant_id == tenant_id, ModelClass.provider == provider, ModelClass.name == name)
        .returning(ModelClass.level)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None
