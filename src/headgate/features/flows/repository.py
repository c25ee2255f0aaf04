"""Every query on flows and versions. The tenant is always required."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowDraftRow, FlowRow, FlowVersionRow, VersionEdgeRow, VersionStepRow

LARGEST_NUMBER = 2**31 - 1
"""Of a column of whole numbers; a driver refuses to look for more."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """What starting a run needs to know of a flow."""

    space_id: str
    draft_version: int | None
    published_version: int | None
    deleted_at: datetime | None


async def find_flow(
    session: AsyncSession, flow_id: str, *, tenant_id: str, lock: bool = False, deleted: bool = False
) -> FlowRow | None:
    """A flow that is not deleted; with `deleted` also one that is."""
    query = select(FlowRow).where(FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id)
    if not deleted:
        query = query.where(FlowRow.deleted_at.is_(None))
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_space_of(session: AsyncSession, flow_id: str, *, tenant_id: str) -> str | None:
    """The id of a flow's space, of a deleted flow too."""
    query = select(FlowRow.space_id).where(FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_flows_named(
    session: AsyncSession, name: str, *, tenant_id: str, space_ids: Collection[str] | None, limit: int
) -> Sequence[FlowRow]:
    """Flows of that name that are not deleted, upper and lower case alike, newest first; `space_ids` None: of all."""
    query = select(FlowRow).where(
        FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None), func.lower(FlowRow.name) == func.lower(name)
    )
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).scalars().all()


async def names_of(
    session: AsyncSession, flow_ids: Collection[str], *, tenant_id: str, space_ids: Collection[str] | None
) -> dict[str, str]:
    """Flow id to name, of deleted flows too; `space_ids` None: of all."""
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
    limit: int,
    before: str | None,
) -> Sequence[FlowRow]:
    """Newest first; `before` is the id of the last flow of the page before, `space_ids` None: of all spaces."""
    query = select(FlowRow).where(FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None))
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    if before is not None:
        query = query.where(FlowRow.id < before)
    for word in search.lower().split():
        text = func.lower(FlowRow.name + " " + FlowRow.description)
        query = query.where(text.contains(word, autoescape=True))
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).scalars().all()


async def list_published(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None, limit: int
) -> Sequence[FlowRow]:
    """Flows that are published, newest first; `space_ids` None: of all spaces."""
    query = select(FlowRow).where(
        FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None), FlowRow.published_version.is_not(None)
    )
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).scalars().all()


async def keep_draft(session: AsyncSession, row: FlowRow, definition: dict[str, Any], *, most: int) -> None:
    """Keep the draft of a locked flow as that of its revision, and delete the oldest of more than `most`."""
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
        delete(FlowDraftRow).where(FlowDraftRow.flow_id == row.id, FlowDraftRow.revision <= row.revision - most)
    )


async def find_draft(session: AsyncSession, flow_id: str, revision: int, *, tenant_id: str) -> FlowDraftRow | None:
    """The earlier draft of a revision."""
    if not 1 <= revision <= LARGEST_NUMBER:
        return None
    query = select(FlowDraftRow).where(
        FlowDraftRow.flow_id == flow_id, FlowDraftRow.revision == revision, FlowDraftRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_drafts(session: AsyncSession, flow_id: str, *, tenant_id: str, limit: int) -> Sequence[FlowDraftRow]:
    """The earlier drafts of a flow, newest first."""
    query = select(FlowDraftRow).where(FlowDraftRow.flow_id == flow_id, FlowDraftRow.tenant_id == tenant_id)
    return (await session.execute(query.order_by(FlowDraftRow.revision.desc()).limit(limit))).scalars().all()


async def find_version(session: AsyncSession, flow_id: str, version: int, *, tenant_id: str) -> FlowVersionRow | None:
    """One version of a flow, of a deleted flow too: runs that were pinned to it stay readable."""
    if not 1 <= version <= LARGEST_NUMBER:
        return None
    query = select(FlowVersionRow).where(
        FlowVersionRow.flow_id == flow_id, FlowVersionRow.version == version, FlowVersionRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def find_version_in_space(
    session: AsyncSession, flow_id: str, version: int, *, tenant_id: str
) -> tuple[FlowVersionRow, str] | None:
    """One version of a flow, as `find_version`, with the space that the flow is in."""
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
    """Flow to the release number of its published version, for those that have one."""
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
    """The version with that content."""
    query = select(FlowVersionRow).where(
        FlowVersionRow.flow_id == flow_id, FlowVersionRow.checksum == checksum, FlowVersionRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_versions(
    session: AsyncSession, flow_id: str, *, tenant_id: str, released_only: bool, limit: int, before: int | None
) -> Sequence[FlowVersionRow]:
    """Newest first: by version, or by release where only published ones are asked for. `before` is a version."""
    query = select(FlowVersionRow).where(FlowVersionRow.flow_id == flow_id, FlowVersionRow.tenant_id == tenant_id)
    order = FlowVersionRow.release if released_only else FlowVersionRow.version
    if released_only:
        query = query.where(FlowVersionRow.release.is_not(None))
    if before is not None:
        place = select(order).where(FlowVersionRow.flow_id == flow_id, FlowVersionRow.version == before)
        query = query.where(order < place.scalar_subquery())
    return (await session.execute(query.order_by(order.desc()).limit(limit))).scalars().all()


async def find_runnable(session: AsyncSession, flow_id: str, *, tenant_id: str) -> Runnable | None:
    """A flow's space, draft version, published version and time of deletion."""
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
    """Add a version with its rows, each kind after the one it points to."""
    for rows in ([version], steps, edges):
        session.add_all(rows)
        await session.flush()
