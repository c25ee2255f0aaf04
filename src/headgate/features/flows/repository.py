"""Queries on flows and versions. The tenant is always required."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.organization.filters import FlowFilter
from headgate.features.flows.tables import FlowDraftRow, FlowRow, FlowVersionRow, VersionEdgeRow, VersionStepRow

LARGEST_NUMBER = 2**31 - 1
"""Maximum of an integer column; drivers reject larger values in queries."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """The values of a flow needed for starting a run."""

    space_id: str
    draft_version: int | None
    published_version: int | None
    deleted_at: datetime | None


async def find_flow(
    session: AsyncSession, flow_id: str, *, tenant_id: str, lock: bool = False, deleted: bool = False
) -> FlowRow | None:
    """Return a flow that is not deleted; with `deleted` also a deleted one."""
    query = select(FlowRow).where(FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id)
    if not deleted:
        query = query.where(FlowRow.deleted_at.is_(None))
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_space_of(session: AsyncSession, flow_id: str, *, tenant_id: str) -> str | None:
    """Return the id of a flow's space, also of a deleted flow."""
    query = select(FlowRow.space_id).where(FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_flows_named(
    session: AsyncSession,
    name: str,
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    limit: int,
    trashed: bool = False,
) -> Sequence[FlowRow]:
    """Return flows with that name, regardless of case, newest first; `space_ids` None: of all spaces."""
    same_name = func.lower(FlowRow.name) == func.lower(name)
    conditions = FlowFilter(trashed=trashed).conditions()
    query = select(FlowRow).where(FlowRow.tenant_id == tenant_id, same_name, *conditions)
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).scalars().all()


async def names_of(
    session: AsyncSession, flow_ids: Collection[str], *, tenant_id: str, space_ids: Collection[str] | None
) -> dict[str, str]:
    """Return flow id to name, also of deleted flows; `space_ids` None: of all spaces."""
    query = select(FlowRow.id, FlowRow.name).where(FlowRow.id.in_(flow_ids), FlowRow.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    return {row.id: row.name for row in await session.execute(query)}


async def list_flows(
    session: AsyncSession,
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    search: str,
    flow_filter: FlowFilter,
    limit: int,
    before: str | None,
) -> Sequence[FlowRow]:
    """Return flows, newest first; `before` is the last id of the previous page, `space_ids` None: of all spaces."""
    query = select(FlowRow).where(FlowRow.tenant_id == tenant_id, *flow_filter.conditions())
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    if before is not None:
        query = query.where(FlowRow.id < before)
    for term in search.lower().split():
        text = func.lower(FlowRow.name + " " + FlowRow.description)
        query = query.where(text.contains(term, autoescape=True))
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).scalars().all()


async def list_published(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None, limit: int
) -> Sequence[FlowRow]:
    """Return published flows, newest first; `space_ids` None: of all spaces."""
    query = select(FlowRow).where(
        FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None), FlowRow.published_version.is_not(None)
    )
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).scalars().all()


async def list_released(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None, limit: int
) -> Sequence[tuple[FlowRow, FlowVersionRow]]:
    """Return published flows with their published versions, newest first; `space_ids` None: of all spaces."""
    query = (
        select(FlowRow, FlowVersionRow)
        .join(
            FlowVersionRow,
            and_(
                FlowVersionRow.flow_id == FlowRow.id,
                FlowVersionRow.tenant_id == FlowRow.tenant_id,
                FlowVersionRow.version == FlowRow.published_version,
            ),
        )
        .where(FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None))
    )
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    rows = await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))
    return [(flow, version) for flow, version in rows]


async def list_published_names(
    session: AsyncSession, *, tenant_id: str, limit: int
) -> Sequence[Row[str, str, str, int | None]]:
    """Return id, name, space and published version of published flows, newest first."""
    columns = (FlowRow.id, FlowRow.name, FlowRow.space_id, FlowRow.published_version)
    query = select(*columns).where(
        FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None), FlowRow.published_version.is_not(None)
    )
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).all()


async def list_definitions(
    session: AsyncSession, *, tenant_id: str, space_id: str, limit: int
) -> Sequence[Row[str, str, dict[str, Any], dict[str, Any] | None]]:
    """Return id, name, draft and published definition of the flows of a space, by name."""
    published = and_(
        FlowVersionRow.flow_id == FlowRow.id,
        FlowVersionRow.tenant_id == FlowRow.tenant_id,
        FlowVersionRow.version == FlowRow.published_version,
    )
    query = (
        select(FlowRow.id, FlowRow.name, FlowRow.draft, FlowVersionRow.definition)
        .outerjoin(FlowVersionRow, published)
        .where(FlowRow.tenant_id == tenant_id, FlowRow.space_id == space_id, FlowRow.deleted_at.is_(None))
        .order_by(FlowRow.name, FlowRow.id)
        .limit(limit)
    )
    return (await session.execute(query)).all()


async def keep_draft(session: AsyncSession, row: FlowRow, definition: dict[str, Any], *, limit: int) -> None:
    """Store the draft of a locked flow as that of its revision, and delete the oldest of more than `most`."""
    session.add(
        FlowDraftRow(
            flow_id=row.id,
            revision=row.revision,
            tenant_id=row.tenant_id,
            definition=definition,
            restores=row.restores,
            saved_at=row.updated_at,
        )
    )
    await session.execute(
        delete(FlowDraftRow).where(FlowDraftRow.flow_id == row.id, FlowDraftRow.revision <= row.revision - limit)
    )


async def find_draft(session: AsyncSession, flow_id: str, revision: int, *, tenant_id: str) -> FlowDraftRow | None:
    """Return the earlier draft of a revision."""
    if not 1 <= revision <= LARGEST_NUMBER:
        return None
    query = select(FlowDraftRow).where(
        FlowDraftRow.flow_id == flow_id, FlowDraftRow.revision == revision, FlowDraftRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_drafts(session: AsyncSession, flow_id: str, *, tenant_id: str, limit: int) -> Sequence[FlowDraftRow]:
    """Return the earlier drafts of a flow, newest first."""
    query = select(FlowDraftRow).where(FlowDraftRow.flow_id == flow_id, FlowDraftRow.tenant_id == tenant_id)
    return (await session.execute(query.order_by(FlowDraftRow.revision.desc()).limit(limit))).scalars().all()


async def find_version(session: AsyncSession, flow_id: str, version: int, *, tenant_id: str) -> FlowVersionRow | None:
    """Return one version of a flow, also of a deleted flow: runs pinned to it stay readable."""
    if not 1 <= version <= LARGEST_NUMBER:
        return None
    query = select(FlowVersionRow).where(
        FlowVersionRow.flow_id == flow_id, FlowVersionRow.version == version, FlowVersionRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def find_version_in_space(
    session: AsyncSession, flow_id: str, version: int, *, tenant_id: str
) -> tuple[FlowVersionRow, str] | None:
    """Return one version of a flow, like `find_version`, with the flow's space."""
    if not 1 <= version <= LARGEST_NUMBER:
        return None
    query = (
        select(FlowVersionRow, FlowRow.space_id)
        .join(FlowRow, and_(FlowRow.id == FlowVersionRow.flow_id, FlowRow.tenant_id == FlowVersionRow.tenant_id))
        .where(
            FlowVersionRow.flow_id == flow_id, FlowVersionRow.version == version, FlowVersionRow.tenant_id == tenant_id
        )
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def list_releases(session: AsyncSession, flow_ids: Sequence[str], *, tenant_id: str) -> dict[str, int]:
    """Return the release numbers of published versions by flow."""
    published = and_(FlowRow.id == FlowVersionRow.flow_id, FlowRow.published_version == FlowVersionRow.version)
    query = (
        select(FlowRow.id, FlowVersionRow.release)
        .join(FlowVersionRow, published)
        .where(FlowRow.id.in_(flow_ids), FlowRow.tenant_id == tenant_id, FlowVersionRow.tenant_id == tenant_id)
    )
    return {flow: release for flow, release in (await session.execute(query)).all() if release is not None}


async def find_version_by_checksum(
    session: AsyncSession, flow_id: str, checksum: str, *, tenant_id: str
) -> FlowVersionRow | None:
    """Return the version with that content."""
    query = select(FlowVersionRow).where(
        FlowVersionRow.flow_id == flow_id, FlowVersionRow.checksum == checksum, FlowVersionRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_versions(
    session: AsyncSession, flow_id: str, *, tenant_id: str, released_only: bool, limit: int, before: int | None
) -> Sequence[FlowVersionRow]:
    """Return versions, newest first: by version, or by release for published ones only. `before` is a version."""
    query = select(FlowVersionRow).where(FlowVersionRow.flow_id == flow_id, FlowVersionRow.tenant_id == tenant_id)
    order = FlowVersionRow.release if released_only else FlowVersionRow.version
    if released_only:
        query = query.where(FlowVersionRow.release.is_not(None))
    if before is not None:
        position = select(order).where(FlowVersionRow.flow_id == flow_id, FlowVersionRow.version == before)
        query = query.where(order < position.scalar_subquery())
    return (await session.execute(query.order_by(order.desc()).limit(limit))).scalars().all()


async def find_runnable(session: AsyncSession, flow_id: str, *, tenant_id: str) -> Runnable | None:
    """Return a flow's space, draft version, published version and time of deletion."""
    query = select(FlowRow.space_id, FlowRow.draft_version, FlowRow.published_version, FlowRow.deleted_at).where(
        and_(FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else Runnable(*row)


async def add_version(
    session: AsyncSession,
    version: FlowVersionRow,
    steps: Sequence[VersionStepRow],
    edges: Sequence[VersionEdgeRow],
) -> None:
    """Add a version with its rows, each kind after the one it refers to."""
    for rows in ([version], steps, edges):
        session.add_all(rows)
        await session.flush()
