"""Queries on the state of flows. The tenant is always required."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.state.tables import FlowStateRow, FlowStateValueRow
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.foundation.database import insert_into


async def find_state(
    session: AsyncSession, flow_id: str, name: str, *, draft: bool, tenant_id: str, lock: bool = False
) -> FlowStateRow | None:
    """Return the current value of a name; `lock` holds it until the transaction ends."""
    row = FlowStateRow
    query = select(row).where(row.flow_id == flow_id, row.draft == draft, row.name == name, row.tenant_id == tenant_id)
    query = query.execution_options(populate_existing=True)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def list_states(session: AsyncSession, flow_id: str, *, draft: bool, tenant_id: str) -> Sequence[FlowStateRow]:
    """List the current values of a flow by name."""
    row = FlowStateRow
    query = select(row).where(row.flow_id == flow_id, row.draft == draft, row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.name))).scalars().all()


async def hold_flow(session: AsyncSession, flow_id: str, *, tenant_id: str) -> bool:
    """Lock an existing flow until the transaction ends, so that its names are counted. Returns whether it exists."""
    query = select(FlowRow.id).where(
        FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None)
    )
    return (await session.execute(query.with_for_update(key_share=True))).first() is not None


async def count_states(session: AsyncSession, flow_id: str, *, draft: bool, tenant_id: str) -> int:
    """Return how many names a flow has."""
    row = FlowStateRow
    query = select(func.count()).where(row.flow_id == flow_id, row.draft == draft, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one()


async def add_state(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Insert a name with its first value."""
    await session.execute(insert_into(session, FlowStateRow).values(tenant_id=tenant_id, **values))


async def change_state(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Replace the value of a name that is locked."""
    row = FlowStateRow
    key = {name: values[name] for name in ("flow_id", "draft", "name")}
    query = update(row).filter_by(tenant_id=tenant_id, **key).values(**values)
    await session.execute(query.execution_options(synchronize_session=False))


async def add_value(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Insert a value into the history."""
    await session.execute(insert_into(session, FlowStateValueRow).values(tenant_id=tenant_id, **values))


async def list_values(
    session: AsyncSession, flow_id: str, name: str, *, draft: bool, tenant_id: str, limit: int
) -> Sequence[FlowStateValueRow]:
    """List the newest values of a name, newest first."""
    row = FlowStateValueRow
    query = select(row).where(row.flow_id == flow_id, row.draft == draft, row.name == name, row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.version.desc()).limit(limit))).scalars().all()


async def find_value_of_step(
    session: AsyncSession, run_id: str, step_id: str, *, tenant_id: str
) -> FlowStateValueRow | None:
    """Return what a step of a run has written."""
    row = FlowStateValueRow
    query = select(row).where(row.flow_run_id == run_id, row.step_id == step_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def delete_values(
    session: AsyncSession,
    flow_id: str,
    name: str,
    *,
    draft: bool,
    tenant_id: str,
    until: int,
    kept_runs: Select[tuple[str]] | None = None,
) -> None:
    """Delete values up to a version, except those of runs that may still repeat their step; without any: of no run."""
    row = FlowStateValueRow
    of_run = row.flow_run_id.is_(None)
    query = delete(row).where(
        row.flow_id == flow_id,
        row.draft == draft,
        row.name == name,
        row.tenant_id == tenant_id,
        row.version <= until,
        of_run if kept_runs is None else or_(of_run, row.flow_run_id.not_in(kept_runs)),
    )
    await session.execute(query.execution_options(synchronize_session=False))


async def delete_states(
    session: AsyncSession, flow_id: str, *, tenant_id: str, draft: bool | None = None, only: str | None = None
) -> None:
    """Delete the state of a flow with its history: all of it, or one name."""
    row = FlowStateRow
    query = delete(row).where(row.flow_id == flow_id, row.tenant_id == tenant_id)
    if draft is not None:
        query = query.where(row.draft == draft)
    if only is not None:
        query = query.where(row.name == only)
    await session.execute(query.execution_options(synchronize_session=False))


async def was_published(session: AsyncSession, flow_id: str, version: int, *, tenant_id: str) -> bool:
    """Return whether a version was ever published."""
    row = FlowVersionRow
    query = select(row.release).where(row.flow_id == flow_id, row.version == version, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none() is not None
