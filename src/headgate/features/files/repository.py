"""Every query on files. The tenant and the reach of who asks are always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, and_, delete, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.files.reach import Reach
from headgate.features.files.tables import StoredFile


async def find_file(session: AsyncSession, file_id: str, *, tenant_id: str, reach: Reach) -> StoredFile | None:
    """One file's record, if it is within reach."""
    query = select(StoredFile).where(StoredFile.id == file_id, StoredFile.tenant_id == tenant_id, _within(reach))
    return (await session.execute(query)).scalar_one_or_none()


async def find_files(
    session: AsyncSession, file_ids: Collection[str], *, tenant_id: str, reach: Reach
) -> Sequence[StoredFile]:
    """The records of these ids that are within reach, in no order."""
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
    """Newest first, what is within reach; `before` is the id of the last file of the previous page."""
    query = select(StoredFile).where(StoredFile.tenant_id == tenant_id, _within(reach))
    if flow_run_id is not None:
        query = query.where(StoredFile.flow_run_id == flow_run_id)
    if before is not None:
        query = query.where(StoredFile.id < before)
    return (await session.execute(query.order_by(StoredFile.id.desc()).limit(limit))).scalars().all()


async def add_file(session: AsyncSession, row: StoredFile) -> None:
    """Keep a new file's record."""
    session.add(row)
    await session.flush()


async def put_in_space(
    session: AsyncSession, file_ids: Collection[str], space_id: str, *, tenant_id: str, reach: Reach
) -> Sequence[StoredFile]:
    """Share uploads within reach with a space: those that no space has yet. The records that changed."""
    shared = (
        update(StoredFile)
        .where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id)
        .where(_within(reach), StoredFile.space_id.is_(None))
        .values(space_id=space_id)
        .returning(StoredFile)
    )
    return (await session.execute(shared)).scalars().all()


async def delete_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> None:
    """Delete the records of these ids that the tenant has."""
    await session.execute(delete(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id))


def _within(reach: Reach) -> ColumnElement[bool]:
    if reach.everything:
        return true()
    shared = StoredFile.space_id.is_not(None)
    ways: list[ColumnElement[bool]] = [
        shared if reach.spaces is None else StoredFile.space_id.in_(sorted(reach.spaces))
    ]
    if reach.owns is not None:
        own = StoredFile.owner_user_id == reach.owns if reach.owns else StoredFile.owner_user_id.is_(None)
        ways.append(own if reach.owns_shared else and_(own, StoredFile.space_id.is_(None)))
    if reach.sealed:
        ways.append(StoredFile.id.in_(sorted(reach.sealed)))
    return or_(*ways)
