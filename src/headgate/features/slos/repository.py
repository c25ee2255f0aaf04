"""Queries on objectives and their counts, for SQLite and PostgreSQL. The tenant is always required.

Only runs that ended since `counted_until`, a few minutes ago, are read from the runs; all others from the counts. The
number of queries does not depend on the number of objectives.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, case, delete, exists, func, or_, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.runs.tables import flow_runs
from headgate.features.slos.figures import PART, SECOND, Count
from headgate.features.slos.tables import SloCountRow, SloRow
from headgate.features.triggers.tables import OccurrenceRow
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]
_R, _SLO, _COUNT = flow_runs.c, SloRow, SloCountRow
_OF_FLOW = and_(FlowRow.id == _SLO.flow_id, FlowRow.tenant_id == _SLO.tenant_id, FlowRow.deleted_at.is_(None))
_RELEASED = exists().where(
    FlowVersionRow.flow_id == _R.flow_id, FlowVersionRow.version == _R.version, FlowVersionRow.release.is_not(None)
)
_TRIGGERED = exists().where(OccurrenceRow.flow_run_id == _R.id, OccurrenceRow.tenant_id == _R.tenant_id)
_COUNTS = and_(
    _R.flow_id == _SLO.flow_id,
    _R.tenant_id == _SLO.tenant_id,
    _R.parent_run_id.is_(None),
    _R.status.in_(("completed", "failed")),
    or_(_SLO.kind == "success", _R.status == "completed"),
    or_(
        _SLO.runs == "all",
        and_(_SLO.runs == "published", _RELEASED),
        and_(_SLO.runs == "triggers", _TRIGGERED),
    ),
)
"""Whether a run counts for an objective: a cancelled one, and that of a step, never does."""
_IS_GOOD = or_(
    and_(_SLO.kind == "success", _R.status == "completed"),
    and_(_SLO.kind == "latency", _R.finished_at - _R.created_at <= _SLO.seconds * SECOND),
)
_GOOD = case((_IS_GOOD, 1), else_=0)


async def list_slos(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    flow_id: str | None = None,
    slo_id: str | None = None,
) -> Sequence[AnyRow]:
    """Return objectives with name and space of their flows, of these spaces (None: all), by id."""
    query = select(_SLO, FlowRow.name, FlowRow.space_id).join(FlowRow, _OF_FLOW).where(_SLO.tenant_id == tenant_id)
    if spaces is not None:
        query = query.where(FlowRow.space_id.in_(sorted(spaces)))
    for column, value in ((_SLO.flow_id, flow_id), (_SLO.id, slo_id)):
        if value is not None:
            query = query.where(column == value)
    return (await session.execute(query.order_by(_SLO.id))).all()


async def list_of_installation(session: AsyncSession, *, limit: int) -> Sequence[AnyRow]:
    """Return the oldest objectives of all tenants, as `list_slos`: for the operator's metrics, which have no names."""
    query = select(_SLO, FlowRow.name, FlowRow.space_id).join(FlowRow, _OF_FLOW).order_by(_SLO.id)
    return (await session.execute(query.limit(limit))).all()


async def count_of_installation(session: AsyncSession) -> int:
    """Return how many objectives all tenants have."""
    return (await session.execute(select(func.count()).select_from(_SLO).join(FlowRow, _OF_FLOW))).scalar_one()


async def count_slos(session: AsyncSession, *, tenant_id: str, flow_id: str | None = None) -> int:
    """Return how many objectives a tenant or a flow has."""
    query = select(func.count()).select_from(_SLO).where(_SLO.tenant_id == tenant_id)
    if flow_id is not None:
        query = query.where(_SLO.flow_id == flow_id)
    return (await session.execute(query)).scalar_one()


async def lock_slo(session: AsyncSession, slo_id: str, *, tenant_id: str) -> SloRow | None:
    """Return an objective; no other transaction changes it until this one ends."""
    query = select(_SLO).where(_SLO.id == slo_id, _SLO.tenant_id == tenant_id).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def sums(
    session: AsyncSession, ids: Collection[str], starts: Mapping[str, int], *, tenant_id: str
) -> Mapping[str, Mapping[str, Count]]:
    """Return the runs of objectives since each of some times, by objective and by the name of the time."""
    counts: dict[str, dict[str, Count]] = defaultdict(lambda: dict.fromkeys(starts, Count()))
    if not starts:
        return counts
    first = min(starts.values())
    own = and_(_SLO.tenant_id == tenant_id, _SLO.id.in_(sorted(ids)))
    stored = select(_SLO.id, *_sums(_COUNT.at, _COUNT.runs, _COUNT.good, starts)).join(
        _COUNT, and_(_COUNT.slo_id == _SLO.id, _COUNT.tenant_id == _SLO.tenant_id, _COUNT.at >= first)
    )
    recent = select(_SLO.id, *_sums(_R.finished_at, 1, _GOOD, starts)).join(
        flow_runs, and_(_COUNTS, _R.finished_at >= _SLO.counted_until, _R.finished_at >= first)
    )
    for row in await _both(session, stored.where(own).group_by(_SLO.id), recent.where(own).group_by(_SLO.id)):
        for place, name in enumerate(starts):
            counts[row.id][name] += Count(int(row[1 + 2 * place]), int(row[2 + 2 * place]))
    return counts


async def _both(
    session: AsyncSession, stored: Select[*tuple[Any, ...]], recent: Select[*tuple[Any, ...]]
) -> Sequence[AnyRow]:
    """Return the rows of both queries in one statement: no count is stored between them."""
    return (await session.execute(union_all(stored, recent))).all()


def _sums(moment: Any, runs: Any, good: Any, starts: Mapping[str, int]) -> list[Any]:  # noqa: ANN401 - columns
    return [func.sum(case((moment >= start, value), else_=0)) for start in starts.values() for value in (runs, good)]


async def parts(session: AsyncSession, slo_id: str, start: int, step: int, *, tenant_id: str) -> dict[int, Count]:
    """Return the runs of an objective since a time, by number of the part of this length."""
    own = and_(_SLO.id == slo_id, _SLO.tenant_id == tenant_id)
    of_count = and_(_COUNT.slo_id == _SLO.id, _COUNT.tenant_id == _SLO.tenant_id, _COUNT.at >= start)
    since = and_(_COUNTS, _R.finished_at >= _SLO.counted_until, _R.finished_at >= start)
    part, recent_part = (_COUNT.at - start) // step, (_R.finished_at - start) // step
    stored = select(part.label("place"), func.sum(_COUNT.runs), func.sum(_COUNT.good)).join_from(_SLO, _COUNT, of_count)
    recent = select(recent_part.label("place"), func.count(), func.sum(_GOOD)).join_from(_SLO, flow_runs, since)
    counts: dict[int, Count] = defaultdict(Count)
    for row in await _both(session, stored.where(own).group_by("place"), recent.where(own).group_by("place")):
        counts[row[0]] += Count(int(row[1]), int(row[2]))
    return counts


def ended_runs(slo_id: str, start: int, end: int, *, tenant_id: str) -> Select[Any]:
    """Return a query of stored counts to be: `at`, `runs` and `good` of runs that ended in a time."""
    at = (_R.finished_at - _R.finished_at % PART).label("at")
    within = and_(_COUNTS, _R.finished_at >= start, _R.finished_at < end)
    query = select(at, func.count().label("runs"), func.sum(_GOOD).label("good")).join_from(_SLO, flow_runs, within)
    return query.where(_SLO.id == slo_id, _SLO.tenant_id == tenant_id).group_by("at")


async def add_counts(session: AsyncSession, slo_id: str, rows: Sequence[AnyRow], *, tenant_id: str) -> None:
    """Store counts. One that exists stays: it is complete."""
    values = [
        {"slo_id": slo_id, "tenant_id": tenant_id, "at": row.at, "runs": row.runs, "good": int(row.good)}
        for row in rows
    ]
    if values:
        await session.execute(insert_into(session, _COUNT).on_conflict_do_nothing(), values)


async def delete_counts(session: AsyncSession, slo_id: str, before: int, *, tenant_id: str) -> None:
    """Delete counts that no window contains any more."""
    old = and_(_COUNT.slo_id == slo_id, _COUNT.tenant_id == tenant_id, _COUNT.at < before)
    await session.execute(delete(_COUNT).where(old))
