"""Queries on files. The tenant and the caller's reach are always required."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.files.reach import Reach
from headgate.features.files.tables import StoredFile


async def find_file(session: AsyncSession, file_id: str, *, tenant_id: str, reach: Reach) -> StoredFile | None:
    """Return one file's record, if it is visible."""
    query = select(StoredFile).where(StoredFile.id == file_id, StoredFile.tenant_id == tenant_id, _within(reach))
    return (await session.execute(query)).scalar_one_or_none()


async def find_files(
    session: AsyncSession, file_ids: Collection[str], *, tenant_id: str, reach: Reach
) -> Sequence[StoredFile]:
    """Return the visible records of these ids, unordered."""
    query = select(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id, _within(reach))
    return (await session.execute(query)).scalars().all()


async def list_files(
    session: AsyncSession,
    *,
    tenant_id: str,
    flow_run_id: str | None,
    limit: int,
    before: str | None,
    reach: Reach,
) -> Sequence[StoredFile]:
    """Return visible files, newest first; `before` is the last id of the previous page."""
    query = select(StoredFile).where(StoredFile.tenant_id == tenant_id, _within(reach))
    if flow_run_id is not None:
        query = query.where(StoredFile.flow_run_id == flow_run_id)
    if before is not None:
        query = query.where(StoredFile.id < before)
    return (await session.execute(query.order_by(StoredFile.id.desc()).limit(limit))).scalars().all()


async def lock_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> Sequence[StoredFile]:
    """Lock and return the tenant's records of these ids, by id."""
    query = select(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id)
    return (await session.execute(query.order_by(StoredFile.id).with_for_update())).scalars().all()


async def expired_files(session: AsyncSession, before: datetime, *, limit: int | None) -> Sequence[StoredFile]:
    """Lock and return records of all tenants that expired before a time."""
    query = select(StoredFile).where(StoredFile.expires_at <= before).order_by(StoredFile.expires_at).limit(limit)
    return (await session.execute(query.with_for_update(skip_locked=True))).scalars().all()


async def add_file(session: AsyncSession, row: StoredFile) -> None:
    """Store a new file's record."""
    session.add(row)
    await session.flush()


async def put_in_space(
    session: AsyncSession, file_ids: Collection[str], space_id: str, *, tenant_id: str, reach: Reach
) -> Sequence[StoredFile]:
    """Share visible uploads without a space with a space. Returns the changed records."""
    shared = (
        update(StoredFile)
        .where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id)
        .where(_within(reach), StoredFile.space_id.is_(None))
        .values(space_id=space_id)
        .returning(StoredFile)
    )
    return (await session.execute(shared)).scalars().all()


async def delete_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> None:
    """Delete the tenant's records of these ids."""
    await session.execute(delete(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id))


def _within(reach: Reach) -> ColumnElement[bool]:
    if reach.everything:
        return true()
    shared = StoredFile.space_id.is_not(None)
    alternatives: list[ColumnElement[bool]] = [
        shared if reach.spaces is None else StoredFile.space_id.in_(sorted(reach.spaces))
    ]
    if reach.owns is not None:
        is_own = StoredFile.owner_user_id == reach.owns if reach.owns else StoredFile.owner_user_id.is_(None)
        alternatives.append(is_own if reach.owns_shared else and_(is_own, StoredFile.space_id.is_(None)))
    if reach.sealed:
        alternatives.append(StoredFile.id.in_(sorted(reach.sealed)))
    return or_(*alternatives)
