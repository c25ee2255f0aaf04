"""Queries on the secrets that runs have read. The tenant is always required."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import User
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.secret_reads.tables import SecretRead
from headgate.features.runs.tables import flow_runs
from headgate.features.secrets.reads import STORED_WITH
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]


async def add_read(
    session: AsyncSession,
    name: str,
    *,
    tenant_id: str,
    run_id: str,
    flow_id: str,
    step_id: str,
    source: str,
    at: datetime,
) -> bool:
    """Store that a run reads a secret. Returns whether it is the first time."""
    values = {"tenant_id": tenant_id, "flow_id": flow_id, "step_id": step_id, "source": source, "at": at}
    query = (
        insert_into(session, SecretRead)
        .values(flow_run_id=run_id, name=name, **values)
        .on_conflict_do_nothing()
        .returning(SecretRead.name)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def names_of(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[str]:
    """Return the names of the secrets that a run has read."""
    query = select(SecretRead.name).where(SecretRead.flow_run_id == run_id, SecretRead.tenant_id == tenant_id)
    return (await session.execute(query)).scalars().all()


async def find_reader(session: AsyncSession, run_id: str, *, tenant_id: str) -> AnyRow | None:
    """Return the `space_id` of a run, and `user_id` and `user_name` of its starter, None without one."""
    query = (
        select(FlowRow.space_id, User.id.label("user_id"), User.name.label("user_name"))
        .select_from(flow_runs)
        .join(FlowRow, and_(FlowRow.id == flow_runs.c.flow_id, FlowRow.tenant_id == flow_runs.c.tenant_id))
        .outerjoin(User, and_(User.id == flow_runs.c.user_id, User.tenant_id == flow_runs.c.tenant_id))
        .where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)
    )
    return (await session.execute(query)).one_or_none()


async def list_uses(
    session: AsyncSession, *, tenant_id: str, spaces: Collection[str] | None, limit: int
) -> Sequence[AnyRow]:
    """List which flows of these spaces (None: all) read which secrets in stored runs, latest read first."""
    last = func.max(SecretRead.at).label("last_read_at")
    query = (
        select(
            SecretRead.name, SecretRead.source, FlowRow.space_id, SecretRead.flow_id, FlowRow.name.label("flow"), last
        )
        .join(FlowRow, and_(FlowRow.id == SecretRead.flow_id, FlowRow.tenant_id == SecretRead.tenant_id))
        .where(SecretRead.tenant_id == tenant_id, ~SecretRead.name.contains(STORED_WITH, autoescape=True))
        .group_by(SecretRead.name, SecretRead.source, FlowRow.space_id, SecretRead.flow_id, FlowRow.name)
        .order_by(last.desc(), SecretRead.name, SecretRead.flow_id)
        .limit(limit)
    )
    if spaces is not None:
        query = query.where(FlowRow.space_id.in_(spaces))
    return (await session.execute(query)).all()
