"""Every query on API keys but the one that tells who is asking. The tenant is always required."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, Select, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import ApiKey, Space, SpaceMember, User

KeyRow = Row[ApiKey, User]


async def find_key(session: AsyncSession, key_id: str, *, tenant_id: str) -> KeyRow | None:
    """A key and its person, by the key's id; nobody revokes it until the transaction ends."""
    return (await session.execute(_held(_keys(tenant_id).where(ApiKey.id == key_id)))).one_or_none()


async def find_by_prefix(session: AsyncSession, prefix: str, *, tenant_id: str) -> KeyRow | None:
    """The same by what lists show of the key."""
    return (await session.execute(_held(_keys(tenant_id).where(ApiKey.prefix == prefix)))).one_or_none()


async def list_made_by(session: AsyncSession, key_id: str, *, tenant_id: str) -> Sequence[ApiKey]:
    """The keys that a key made and that were not revoked; none of them makes another until the transaction ends."""
    query = _held(_keys(tenant_id).where(ApiKey.made_by_key_id == key_id, ApiKey.revoked_at.is_(None)))
    return [row for row, _ in (await session.execute(query.order_by(ApiKey.id))).all()]


async def list_keys(
    session: AsyncSession, *, tenant_id: str, user_id: str | None, limit: int, after: str | None = None
) -> Sequence[KeyRow]:
    """Keys with their people in the order they were made, of one person or, without one, of all."""
    query = _keys(tenant_id)
    if user_id is not None:
        query = query.where(ApiKey.user_id == user_id)
    if after is not None:
        query = query.where(ApiKey.id > after)
    return (await session.execute(query.order_by(ApiKey.id).limit(limit))).all()


async def count_live(session: AsyncSession, user_id: str, at: datetime, *, tenant_id: str) -> int:
    """How many keys of a person work at a moment."""
    query = select(func.count()).where(
        ApiKey.tenant_id == tenant_id,
        ApiKey.user_id == user_id,
        ApiKey.revoked_at.is_(None),
        or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > at),
    )
    return (await session.execute(query)).scalar_one()


async def names_of_spaces(session: AsyncSession, space_ids: Sequence[str], *, tenant_id: str) -> dict[str, str]:
    """Those of the spaces that the tenant has: id to name."""
    query = select(Space.id, Space.name).where(Space.tenant_id == tenant_id, Space.id.in_(space_ids))
    return {row[0]: row[1] for row in (await session.execute(query)).all()}


async def spaces_of_member(
    session: AsyncSession, user_id: str, space_ids: Sequence[str], *, tenant_id: str
) -> frozenset[str]:
    """Those of the spaces that a person is a member of."""
    query = select(SpaceMember.space_id).where(
        SpaceMember.tenant_id == tenant_id, SpaceMember.user_id == user_id, SpaceMember.space_id.in_(space_ids)
    )
    return frozenset((await session.execute(query)).scalars())


async def delete_keys(session: AsyncSession, *, tenant_id: str, user_id: str) -> None:
    """Delete every key of a user: they work no more, at once."""
    await session.execute(delete(ApiKey).where(ApiKey.user_id == user_id, ApiKey.tenant_id == tenant_id))


def _keys(tenant_id: str) -> Select[ApiKey, User]:
    same = (User.id == ApiKey.user_id) & (User.tenant_id == ApiKey.tenant_id)
    return select(ApiKey, User).join(User, same).where(ApiKey.tenant_id == tenant_id)


def _held(query: Select[ApiKey, User]) -> Select[ApiKey, User]:
    return query.with_for_update(of=ApiKey).execution_options(populate_existing=True)
