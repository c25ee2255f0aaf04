"""Queries on limits and usage. The tenant is always required."""

from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.quotas.bounds import Bound, Quota, Scope
from headgate.features.runs.quotas.tables import quotas
from headgate.features.runs.quotas.usage import USAGE, usage_values

Stored = dict[tuple[Scope, str, Quota], int]
"""Scope, space ('' for none) and kind, mapped to the limit."""


async def list_limits(session: AsyncSession, *, tenant_id: str) -> Stored:
    """Return the limits that the tenant has set."""
    rows = await session.execute(select(quotas).where(quotas.c.tenant_id == tenant_id))
    return {(Scope(row.scope), row.space_id, Quota(row.quota)): int(row.most) for row in rows}


async def set_limit(
    session: AsyncSession, scope: Scope, space_id: str, quota: Quota, limit: int | None, *, tenant_id: str
) -> None:
    """Replace a limit; None removes it."""
    key = {"tenant_id": tenant_id, "scope": scope.value, "space_id": space_id, "quota": quota.value}
    await session.execute(delete(quotas).where(*(quotas.c[name] == value for name, value in key.items())))
    if limit is not None:
        await session.execute(quotas.insert().values(**key, most=limit))


async def read_usage(session: AsyncSession, bound: Bound, at: int, *, tenant_id: str) -> tuple[int, int | None]:
    """Return the usage and the creation time of the oldest run or file that counts."""
    statement = text(USAGE[bound.quota, bound.scope])
    used, oldest = (await session.execute(statement, usage_values(bound, tenant_id, at))).one()
    return int(used), oldest
