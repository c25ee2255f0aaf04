"""Every query on files. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.files.tables import StoredFile


async def find_file(
    session: AsyncSession, file_id: str, *, tenant_id: str, seen_by: Principal | None = None
) -> StoredFile | None:
    """One file's record; with `seen_by` only if they see it."""
    query = select(StoredFile).where(StoredFile.id == file_id, StoredFile.tenant_id == tenant_id, *_seen(seen_by))
    return (await session.execute(query)).scalar_one_or_none()


async def find_files(
    session: AsyncSession, file_ids: Collection[str], *, tenant_id: str, seen_by: Principal | None = None
) -> Sequence[StoredFile]:
    """The records of these ids that the tenant has, in no order; with `seen_by` only those that they see."""
    query = select(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id, *_seen(seen_by))
    return (await session.execute(query)).scalars().all()


async def list_files(
    session: AsyncSession,
    *,
    tenant_id: str,
    flow_run_id: str | None,
    limit: int,
    before: str | None,
    seen_by: Principal | None = None,
) -> Sequence[StoredFile]:
    """Newest first; `before` is the id of the last file of the page before; with `seen_by` only what they see."""
    query = select(StoredFile).where(StoredFile.tenant_id == tenant_id, *_seen(seen_by))
    if flow_run_id is not None:
        query = query.where(StoredFile.flow_run_id == flow_run_id)
    if before is not None:
        query = query.where(StoredFile.id < before)
    return (await session.execute(query.order_by(StoredFile.id.desc()).limit(limit))).scalars().all()


async def count_bytes(session: AsyncSession, *, tenant_id: str) -> int:
    """What all files of the tenant have together."""
    query = select(func.coalesce(func.sum(StoredFile.size_bytes), 0)).where(StoredFile.tenant_id == tenant_id)
    return int((await session.execute(query)).scalar_one())


async def add_file(session: AsyncSession, row: StoredFile) -> None:
    """Keep a new file's record."""
    session.add(row)
    await session.flush()


async def put_in_space(
    session: AsyncSession, file_ids: Collection[str], space_id: str, *, tenant_id: str, owner_user_id: str
) -> Sequence[StoredFile]:
    """Show a person's uploads to a space: those that nobody else saw until now. The records it was done to."""
    shared = (
        update(StoredFile)
        .where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id)
        .where(_owned(owner_user_id), StoredFile.space_id.is_(None))
        .values(space_id=space_id)
        .returning(StoredFile)
    )
    return (await session.execute(shared)).scalars().all()


async def delete_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> None:
    """Delete the records of these ids that the tenant has."""
    await session.execute(delete(StoredFile).where(StoredFile.id.in_(file_ids), StoredFile.tenant_id == tenant_id))


def _owned(user_id: str) -> ColumnElement[bool]:
    """Whose it is; without a user, the installation's own keeper's, who has no row."""
    return StoredFile.owner_user_id == user_id if user_id else StoredFile.owner_user_id.is_(None)


def _seen(by: Principal | None) -> tuple[ColumnElement[bool], ...]:
    """What somebody sees: the files of their spaces, and their own uploads whoever else sees them.

    An API key for some spaces does not see its person's uploads that others of their spaces have taken.
    """
    if by is None:
        return ()
    spaces, own = by.visible_spaces, _owned(by.user_id)
    shared = StoredFile.space_id.is_not(None) if spaces is None else StoredFile.space_id.in_(sorted(spaces))
    mine = own if by.access.spaces is None else and_(own, StoredFile.space_id.is_(None))
    return (or_(shared, mine),)
