"""Every query on classifications, servers, facts and roles of models. The tenant is always required."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, or_, select, text, true
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.models.tables import (
    OF_ORGANISATION,
    OF_SPACE,
    ModelClass,
    ModelFactsRow,
    ModelRoleRow,
    ModelServerRow,
)
from headgate.foundation.database import insert_into
from headgate.foundation.ids import new_id


async def list_classes(session: AsyncSession, *, tenant_id: str) -> Sequence[ModelClass]:
    """Return the classes that a tenant set, by provider and name."""
    query = select(ModelClass).where(ModelClass.tenant_id == tenant_id).order_by(ModelClass.provider, ModelClass.name)
    return (await session.execute(query)).scalars().all()


async def find_class(session: AsyncSession, *, tenant_id: str, provider: str, name: str) -> ModelClass | None:
    """Return the class of one model."""
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


async def list_servers(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None
) -> Sequence[ModelServerRow]:
    """Servers of the organisation and of these spaces, None for every space; by name, a space's before it."""
    spaces = (
        true() if space_ids is None else or_(ModelServerRow.space_id.is_(None), ModelServerRow.space_id.in_(space_ids))
    )
    query = (
        select(ModelServerRow)
        .where(ModelServerRow.tenant_id == tenant_id, spaces)
        .order_by(ModelServerRow.name, ModelServerRow.space_id.is_(None), ModelServerRow.space_id)
    )
    return (await session.execute(query)).scalars().all()


async def find_server(
    session: AsyncSession, name: str, *, tenant_id: str, space_id: str | None
) -> ModelServerRow | None:
    """Return the server of a space, or of the organisation for None."""
    query = select(ModelServerRow).where(
        ModelServerRow.tenant_id == tenant_id,
        ModelServerRow.name == name,
        ModelServerRow.space_id.is_not_distinct_from(space_id),
    )
    return (await session.execute(query)).scalar_one_or_none()


async def save_server(
    session: AsyncSession, name: str, *, tenant_id: str, space_id: str | None, values: Mapping[str, Any]
) -> ModelServerRow:
    """Set a server, new or not, in one statement: two who set it at once both succeed."""
    owner = (ModelServerRow.tenant_id,) if space_id is None else (ModelServerRow.tenant_id, ModelServerRow.space_id)
    query = (
        insert_into(session, ModelServerRow)
        .values(id=new_id(), tenant_id=tenant_id, space_id=space_id, name=name, **values)
        .on_conflict_do_update(
            index_elements=[*owner, ModelServerRow.name],
            index_where=text(OF_ORGANISATION if space_id is None else OF_SPACE),
            set_=dict(values),
        )
        .returning(ModelServerRow)
    )
    return (await session.execute(query, execution_options={"populate_existing": True})).scalar_one()


async def delete_server(session: AsyncSession, name: str, *, tenant_id: str, space_id: str | None) -> bool:
    """Remove a server; whether there was one."""
    query = (
        delete(ModelServerRow)
        .where(
            ModelServerRow.tenant_id == tenant_id,
            ModelServerRow.name == name,
            ModelServerRow.space_id.is_not_distinct_from(space_id),
        )
        .returning(ModelServerRow.name)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def list_facts(session: AsyncSession, *, tenant_id: str) -> Sequence[ModelFactsRow]:
    """Return an organisation's facts about models, by provider and name."""
    query = (
        select(ModelFactsRow)
        .where(ModelFactsRow.tenant_id == tenant_id)
        .order_by(ModelFactsRow.provider, ModelFactsRow.name)
    )
    return (await session.execute(query)).scalars().all()


async def find_facts(session: AsyncSession, *, tenant_id: str, provider: str, name: str) -> ModelFactsRow | None:
    """Return an organisation's facts about one model."""
    return await session.get(ModelFactsRow, (tenant_id, provider, name))


async def put_facts(
    session: AsyncSession, *, tenant_id: str, provider: str, name: str, facts: dict[str, Any]
) -> ModelFactsRow:
    """Set the facts of a model, in one statement."""
    query = (
        insert_into(session, ModelFactsRow)
        .values(tenant_id=tenant_id, provider=provider, name=name, facts=facts)
        .on_conflict_do_update(
            index_elements=[ModelFactsRow.tenant_id, ModelFactsRow.provider, ModelFactsRow.name], set_={"facts": facts}
        )
        .returning(ModelFactsRow)
    )
    return (await session.execute(query, execution_options={"populate_existing": True})).scalar_one()


async def delete_facts(session: AsyncSession, *, tenant_id: str, provider: str, name: str) -> bool:
    """Remove the facts of a model; whether there were any."""
    query = (
        delete(ModelFactsRow)
        .where(ModelFactsRow.tenant_id == tenant_id, ModelFactsRow.provider == provider, ModelFactsRow.name == name)
        .returning(ModelFactsRow.name)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def list_roles(session: AsyncSession, *, tenant_id: str) -> Sequence[ModelRoleRow]:
    """Return the models that an organisation chose, by role."""
    query = select(ModelRoleRow).where(ModelRoleRow.tenant_id == tenant_id).order_by(ModelRoleRow.role)
    return (await session.execute(query)).scalars().all()


async def find_role(session: AsyncSession, *, tenant_id: str, role: str) -> ModelRoleRow | None:
    """Return the models that an organisation chose for one role."""
    return await session.get(ModelRoleRow, (tenant_id, role))


async def put_role(session: AsyncSession, *, tenant_id: str, role: str, models: list[dict[str, Any]]) -> ModelRoleRow:
    """Set the models of a role, in one statement."""
    query = (
        insert_into(session, ModelRoleRow)
        .values(tenant_id=tenant_id, role=role, models=models)
        .on_conflict_do_update(index_elements=[ModelRoleRow.tenant_id, ModelRoleRow.role], set_={"models": models})
        .returning(ModelRoleRow)
    )
    return (await session.execute(query, execution_options={"populate_existing": True})).scalar_one()


async def delete_role(session: AsyncSession, *, tenant_id: str, role: str) -> bool:
    """Remove the choice for a role; whether there was one."""
    query = (
        delete(ModelRoleRow)
        .where(ModelRoleRow.tenant_id == tenant_id, ModelRoleRow.role == role)
        .returning(ModelRoleRow.role)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None
