"""Counts over all tenants, for the operator's metrics, without personal data."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs

_DUE = ("pending", "delivering")


async def count_live_runs(session: AsyncSession) -> dict[str, int]:
    """Count the runs that are not over, by state. Uses a partial index: the cost depends on live runs only."""
    query = (
        select(flow_runs.c.status, func.count()).where(flow_runs.c.status.in_(LIVE_RUNS)).group_by(flow_runs.c.status)
    )
    counts = dict.fromkeys(sorted(LIVE_RUNS), 0) | {row[0]: row[1] for row in await session.execute(query)}
    return {str(status): count for status, count in counts.items()}


async def count_waiting_deliveries(session: AsyncSession) -> int:
    """Count the pending deliveries."""
    query = select(func.count()).where(webhook_deliveries.c.status.in_(_DUE))
    return int((await session.execute(query)).scalar_one())
