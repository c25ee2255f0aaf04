"""The one query behind the list of flows. The tenant is always required."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from headgate.features.accounts.tables import User
from headgate.features.flows.organization.filters import FlowFilter
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.runs.listing.schemas import SortKey
from headgate.features.runs.tables import flow_runs

AnyRow = Row[*tuple[Any, ...]]
Place = tuple[datetime | str | None, str]
"""Sort value and id of the last flow of the previous page."""
_LOWERED = func.lower(FlowRow.name)


async def list_flows(
    session: AsyncSession,
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    search: str,
    flow_filter: FlowFilter,
    sort: SortKey,
    limit: int,
    position: Place | None,
) -> Sequence[AnyRow]:
    """List flows with their published release, newest run and the name of the last editor; `space_ids` None: all."""
    page = select(FlowRow.id).where(FlowRow.tenant_id == tenant_id, *flow_filter.conditions())
    if space_ids is not None:
        page = page.where(FlowRow.space_id.in_(space_ids))
    for term in search.lower().split():
        text = func.lower(FlowRow.name + " " + FlowRow.description)
        page = page.where(text.contains(term, autoescape=True))
    if position is not None:
        page = page.where(_behind(sort, position))
    # Select the page first: joined to all flows in name order, PostgreSQL would read every run of the tenant.
    ids = page.order_by(*_order(sort)).limit(limit).subquery()
    query = _columns(tenant_id).where(FlowRow.tenant_id == tenant_id).join(ids, ids.c.id == FlowRow.id)
    rows: Sequence[AnyRow] = (await session.execute(query.order_by(*_order(sort)))).all()
    return rows


def _columns(tenant_id: str) -> Select[*tuple[Any, ...]]:
    newest = (
        select(func.max(flow_runs.c.id))
        .where(flow_runs.c.flow_id == FlowRow.id, flow_runs.c.tenant_id == tenant_id)
        .correlate(FlowRow)
        .scalar_subquery()
    )
    author = aliased(User)
    run = flow_runs.alias("newest_run")
    published = and_(FlowVersionRow.flow_id == FlowRow.id, FlowVersionRow.version == FlowRow.published_version)
    return (
        select(
            FlowRow.id, FlowRow.name, FlowRow.description, FlowRow.space_id, FlowRow.revision, FlowRow.tenant_id,
            FlowRow.owner_user_id, FlowRow.folder, FlowRow.deleted_at,
            FlowRow.published_version, FlowRow.draft_version, FlowRow.draft, FlowRow.created_at, FlowRow.updated_at,
            FlowVersionRow.release.label("release"), _LOWERED.label("lowered"),
            author.name.label("updated_by"),
            run.c.id.label("run_id"), run.c.status.label("run_status"), run.c.version.label("run_version"),
            run.c.created_at.label("run_created_at"), run.c.started_at.label("run_started_at"),
            run.c.finished_at.label("run_finished_at"),
        )
        .outerjoin(FlowVersionRow, and_(published, FlowVersionRow.tenant_id == FlowRow.tenant_id))
        .outerjoin(author, and_(author.id == FlowRow.updated_by_user_id, author.tenant_id == FlowRow.tenant_id))
        .outerjoin(run, and_(run.c.id == newest, run.c.tenant_id == FlowRow.tenant_id))
    )  # fmt: skip


def _order(sort: SortKey) -> tuple[ColumnElement[Any], ...]:
    if sort == "name":
        return _LOWERED.asc(), FlowRow.id.asc()
    if sort == "updated":
        return FlowRow.updated_at.desc(), FlowRow.id.desc()
    return (FlowRow.id.desc(),)


def _behind(sort: SortKey, position: Place) -> ColumnElement[bool]:
    value, flow_id = position
    if sort == "name":
        same = _LOWERED.is_not_distinct_from(value)
        return or_(_LOWERED.op(">")(value), and_(same, FlowRow.id > flow_id))
    if sort == "updated":
        return or_(FlowRow.updated_at < value, and_(FlowRow.updated_at == value, FlowRow.id < flow_id))
    return FlowRow.id < flow_id
