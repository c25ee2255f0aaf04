"""Every query on files. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.files.tables import StoredFile


async def find_file(session: AsyncSession, file_id: str, *, tenant_id: str) -> StoredFile | None:
    """One file's record."""
    query = select(StoredFile).where(StoredFile.id == file_id, StoredFile.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> Sequence[StoredFile]:
    """The records of these ids that the tenant has, in no order."""
    query = select(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id)
    return (await session.execute(query)).scalars().all()


async def list_files(
    session: AsyncSession, *, tenant_id: str, flow_run_id: str | None, limit: int, before: str | None
) -> Sequence[StoredFile]:
    """Newest first; `before` is the id of the last file of the page before."""
    query = select(StoredFile).where(StoredFile.tenant_id == tenant_id)
    if flow_run_id is not None:
        query = query.where(StoredFile.flow_run_id == flow_run_id)
    if before is not None:
        query = query.where(StoredFile.id < before)
    return (await session.execute(query.order_by(StoredFile.id.desc()).limit(limit))).scalars().all()


async def add_file(session: AsyncSession, row: StoredFile) -> None:
    """Keep a new file's record."""
    session.add(row)
    await session.flush()


async def delete_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> None:
    """Delete the records of these ids that the tenant has."""
    await session.execute(delete(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id))
