"""Every query on Flowise servers. The tenant is always required."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import InstanceRow


async def list_instances(session: AsyncSession, *, tenant_id: str) -> Sequence[InstanceRow]:
    """The tenant's servers, the first added first."""
    query = select(InstanceRow).where(InstanceRow.tenant_id == tenant_id)
    return (await session.execute(query.order_by(InstanceRow.created_at, InstanceRow.id))).scalars().all()


async def find_instance(session: AsyncSession, instance_id: str, *, tenant_id: str) -> InstanceRow | None:
    """One server."""
    query = select(InstanceRow).where(InstanceRow.tenant_id == tenant_id, InstanceRow.id == instance_id[:100])
    return (await session.execute(query)).scalar_one_or_none()


async def delete_instance(session: AsyncSession, instance_id: str, *, tenant_id: str) -> None:
    """Forget a server."""
    await session.execute(
        delete(InstanceRow).where(InstanceRow.tenant_id == tenant_id, InstanceRow.id == instance_id[:100])
    )
