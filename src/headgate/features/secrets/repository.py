"""Queries on variables. The tenant is always required."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, or_, select, text, true
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.secrets.tables import OF_ORGANISATION, OF_SPACE, Variable
from headgate.foundation.database import insert_into
from headgate.foundation.ids import new_id


async def find_variable(session: AsyncSession, name: str, *, tenant_id: str, space_id: str | None) -> Variable | None:
    """Return one variable of a space, or of the organisation for None."""
    query = select(Variable).where(*_is(name, tenant_id, space_id))
    return (await session.execute(query)).scalar_one_or_none()


async def find_used(session: AsyncSession, name: str, *, tenant_id: str, space_id: str) -> Variable | None:
    """Return the variable that a flow of the space uses for a name: the space's own, else the organisation's."""
    query = (
        select(Variable)
        .where(Variable.tenant_id == tenant_id, Variable.name == name, _seen_in(space_id))
        .order_by(Variable.space_id.is_(None))
        .limit(1)
    )
    return (await session.execute(query)).scalar_one_or_none()


async def names_in_use(
    session: AsyncSession, names: Collection[str], *, tenant_id: str, space_id: str
) -> frozenset[str]:
    """Return those of the names under which the space or its organisation stores a variable."""
    query = select(Variable.name).where(Variable.tenant_id == tenant_id, Variable.name.in_(names), _seen_in(space_id))
    return frozenset((await session.execute(query)).scalars())


async def list_variables(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None
) -> Sequence[Variable]:
    """Return variables of the organisation and of these spaces, None for every space; by name, a space's first."""
    spaces = true() if space_ids is None else or_(Variable.space_id.is_(None), Variable.space_id.in_(space_ids))
    query = (
        select(Variable)
        .where(Variable.tenant_id == tenant_id, spaces)
        .order_by(Variable.name, Variable.space_id.is_(None), Variable.space_id)
    )
    return (await session.execute(query)).scalars().all()


async def save_variable(
    session: AsyncSession,
    name: str,
    *,
    tenant_id: str,
    space_id: str | None,
    token: bytes,
    secret: bool,
    hosts: list[str] | None,
    updated_at: datetime,
) -> Variable:
    """Insert or update a variable in one statement, so concurrent updates both succeed."""
    values = {"token": token, "secret": secret, "hosts": hosts, "updated_at": updated_at}
    owner = (Variable.tenant_id,) if space_id is None else (Variable.tenant_id, Variable.space_id)
    where = text(OF_ORGANISATION if space_id is None else OF_SPACE)
    query = (
        insert_into(session, Variable)
        .values(id=new_id(), tenant_id=tenant_id, space_id=space_id, name=name, **values)
        .on_conflict_do_update(index_elements=[*owner, Variable.name], index_where=where, set_=values)
        .returning(Variable)
    )
    return (await session.execute(query, execution_options={"populate_existing": True})).scalar_one()


async def delete_variable(session: AsyncSession, name: str, *, tenant_id: str, space_id: str | None) -> bool:
    """Delete a variable of a space, or of the organisation for None; return whether there was one."""
    result = await session.execute(delete(Variable).where(*_is(name, tenant_id, space_id)).returning(Variable.name))
    return result.scalar_one_or_none() is not None


def _is(name: str, tenant_id: str, space_id: str | None) -> tuple[ColumnElement[bool], ...]:
    return (Variable.tenant_id == tenant_id, Variable.name == name, Variable.space_id.is_not_distinct_from(space_id))


def _seen_in(space_id: str) -> ColumnElement[bool]:
    return or_(Variable.space_id == space_id, Variable.space_id.is_(None))
