"""Every query on variables. The tenant is always required."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.secrets.tables import Variable
from headgate.foundation.database import insert_into


async def find_variable(session: AsyncSession, name: str, *, tenant_id: str) -> Variable | None:
    """One variable."""
    return await session.get(Variable, (tenant_id, name))


async def list_variables(session: AsyncSession, *, tenant_id: str) -> Sequence[Variable]:
    """All variables, by name."""
    query = select(Variable).where(Variable.tenant_id == tenant_id).order_by(Variable.name)
    return (await session.execute(query)).scalars().all()


async def save_variable(
    session: AsyncSession,
    name: str,
    *,
    tenant_id: str,
    token: bytes,
    secret: bool,
    hosts: list[str] | None,
    updated_at: datetime,
) -> Variable:
    """Set a variable, new or not, in one statement: two who set it at once both succeed."""
    values = {"token": token, "secret": secret, "hosts": hosts, "updated_at": updated_at}
    query = (
        insert_into(session, Variable)
        .values(tenant_id=tenant_id, name=name, **values)
        .on_conflict_do_update(index_elements=[Variable.tenant_id, Variable.name], set_=values)
        .returning(Variable)
    )
    return (await session.execute(query, execution_options={"populate_existing": True})).scalar_one()


async def delete_variable(session: AsyncSession, name: str, *, tenant_id: str) -> bool:
    """Remove a variable; whether there was one."""
    found = await session.execute(
        delete(Variable).where(Variable.tenant_id == tenant_id, Variable.name == name).returning(Variable.name)
    )
    return found.scalar_one_or_none() is not None
