"""Queries on folders, tags and favourites of flows. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.organization.filters import EVERY_FLOW, FlowFilter
from headgate.features.flows.organization.tables import FlowFavouriteRow, FlowTagRow
from headgate.features.flows.tables import FlowRow
from headgate.foundation.database import insert_into


async def tags_of(session: AsyncSession, flow_ids: Collection[str], *, tenant_id: str) -> dict[str, list[str]]:
    """Return flow id to tags, sorted."""
    query = select(FlowTagRow.flow_id, FlowTagRow.tag).where(
        FlowTagRow.flow_id.in_(flow_ids), FlowTagRow.tenant_id == tenant_id
    )
    tags: dict[str, list[str]] = {}
    for row in await session.execute(query.order_by(FlowTagRow.tag)):
        tags.setdefault(row.flow_id, []).append(row.tag)
    return tags


async def favourites_among(
    session: AsyncSession, flow_ids: Collection[str], *, user_id: str, tenant_id: str
) -> set[str]:
    """Return the flows among these that are favourites of the user."""
    query = select(FlowFavouriteRow.flow_id).where(
        FlowFavouriteRow.flow_id.in_(flow_ids),
        FlowFavouriteRow.user_id == user_id,
        FlowFavouriteRow.tenant_id == tenant_id,
    )
    return set((await session.execute(query)).scalars())


async def add_tags(session: AsyncSession, flow_id: str, tags: Collection[str], *, tenant_id: str) -> None:
    """Add tags to a flow; one that it has stays."""
    for tag in tags:
        values = {"flow_id": flow_id, "tag": tag, "tenant_id": tenant_id}
        await session.execute(insert_into(session, FlowTagRow).values(values).on_conflict_do_nothing())


async def remove_tags(session: AsyncSession, flow_id: str, tags: Collection[str], *, tenant_id: str) -> None:
    """Remove tags of a flow."""
    await session.execute(
        delete(FlowTagRow).where(
            FlowTagRow.flow_id == flow_id, FlowTagRow.tag.in_(tags), FlowTagRow.tenant_id == tenant_id
        )
    )


async def add_favourite(session: AsyncSession, flow_id: str, user_id: str, *, tenant_id: str) -> bool:
    """Mark a flow as a favourite of a user; return whether it was not one."""
    values = {"flow_id": flow_id, "user_id": user_id, "tenant_id": tenant_id}
    query = insert_into(session, FlowFavouriteRow).values(values).on_conflict_do_nothing()
    return (await session.execute(query.returning(FlowFavouriteRow.flow_id))).first() is not None


async def remove_favourite(session: AsyncSession, flow_id: str, user_id: str, *, tenant_id: str) -> bool:
    """Remove the mark; return whether the flow had it."""
    row = FlowFavouriteRow
    query = delete(row).where(row.flow_id == flow_id, row.user_id == user_id, row.tenant_id == tenant_id)
    return (await session.execute(query.returning(row.flow_id))).first() is not None


async def count_folders(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None
) -> Sequence[tuple[str, int]]:
    """Return each folder with flows and their number, by path."""
    query = select(FlowRow.folder, func.count()).where(
        FlowRow.folder != "", *_of_spaces(EVERY_FLOW, tenant_id, space_ids)
    )
    rows = await session.execute(query.group_by(FlowRow.folder).order_by(FlowRow.folder))
    return [(row[0], row[1]) for row in rows]


async def count_tags(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None
) -> Sequence[tuple[str, int]]:
    """Return each tag and the number of flows with it, by name."""
    query = (
        select(FlowTagRow.tag, func.count())
        .join(FlowRow, and_(FlowRow.id == FlowTagRow.flow_id, FlowRow.tenant_id == FlowTagRow.tenant_id))
        .where(FlowTagRow.tenant_id == tenant_id, *_of_spaces(EVERY_FLOW, tenant_id, space_ids))
    )
    rows = await session.execute(query.group_by(FlowTagRow.tag).order_by(FlowTagRow.tag))
    return [(row[0], row[1]) for row in rows]


async def count_flows(
    session: AsyncSession, flow_filter: FlowFilter, *, tenant_id: str, space_ids: Collection[str] | None
) -> int:
    """Return the number of flows of a filter."""
    query = select(func.count()).select_from(FlowRow).where(*_of_spaces(flow_filter, tenant_id, space_ids))
    return (await session.execute(query)).scalar_one()


def _of_spaces(flow_filter: FlowFilter, tenant_id: str, space_ids: Collection[str] | None) -> list[ColumnElement[bool]]:
    conditions = [FlowRow.tenant_id == tenant_id, *flow_filter.conditions()]
    return conditions if space_ids is None else [*conditions, FlowRow.space_id.in_(space_ids)]
