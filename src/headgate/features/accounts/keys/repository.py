"""Queries on API keys, except the authentication of requests. The tenant is always required."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, Select, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import ApiKey, Space, SpaceMember, User

KeyRow = Row[ApiKey, User]


async def find_key(session: AsyncSession, key_id: str, *, tenant_id: str) -> KeyRow | None:
    """Lock and return a key and its user, by the key's id, until the transaction ends."""
    return (await session.execute(_held(_keys(tenant_id).where(ApiKey.id == key_id)))).one_or_none()


async def find_by_prefix(session: AsyncSession, prefix: str, *, tenant_id: str) -> KeyRow | None:
    """Lock and return a key and its user, by the prefix shown in lists."""
    return (await session.execute(_held(_keys(tenant_id).where(ApiKey.prefix == prefix)))).one_or_none()


async def list_made_by(session: AsyncSession, key_id: str, *, tenant_id: str) -> Sequence[ApiKey]:
    """Lock and return the active keys that a key created, so that they cannot create another."""
    query = _held(_keys(tenant_id).where(ApiKey.made_by_key_id == key_id, ApiKey.revoked_at.is_(None)))
    return [row for row, _ in (await session.execute(query.order_by(ApiKey.id))).all()]


async def list_keys(
    session: AsyncSession, *, tenant_id: str, user_id: str | None, limit: int, after: str | None = None
) -> Sequence[KeyRow]:
    """Return keys with their users in order of creation, of one user or of all."""
    query = _keys(tenant_id)
    if user_id is not None:
        query = query.where(ApiKey.user_id == user_id)
    if after is not None:
        query = query.where(ApiKey.id > after)
    return (await session.execute(query.order_by(ApiKey.id).limit(limit))).all()


async def count_live(session: AsyncSession, user_id: str, at: datetime, *, tenant_id: str) -> int:
    """Return the number of a user's active keys at a time."""
    query = select(func.count()).where(
        ApiKey.tenant_id == tenant_id,
        ApiKey.user_id == user_id,
        ApiKey.revoked_at.is_(None),
        or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > at),
    )
    return (await session.execute(query)).scalar_one()


async def names_of_spaces(session: AsyncSession, space_ids: Sequence[str], *, tenant_id: str) -> dict[str, str]:
    """Return the tenant's spaces among the given ones: id to name."""
    query = select(Space.id, Space.name).where(Space.tenant_id == tenant_id, Space.id.in_(space_ids))
    return {row[0]: row[1] for row in (await session.execute(query)).all()}


async def spaces_of_member(
    session: AsyncSession, user_id: str, space_ids: Sequence[str], *, tenant_id: str
) -> frozenset[str]:
    """Return the given spaces that a user is a member of."""
    query = select(SpaceMember.space_id).where(
        SpaceMember.tenant_id == tenant_id, SpaceMember.user_id == user_id, SpaceMember.space_id.in_(space_ids)
    )
    return frozenset((await session.execute(query)).scalars())


async def delete_keys(session: AsyncSession, *, tenant_id: str, user_id: str) -> None:
    """Delete every key of a user, effective immediately."""
    await session.execute(delete(ApiKey).where(ApiKey.user_id == user_id, ApiKey.tenant_id == tenant_id))


def _keys(tenant_id: str) -> Select[ApiKey, User]:
    same = (User.id == ApiKey.user_id) & (User.tenant_id == ApiKey.tenant_id)
    return select(ApiKey, User).join(User, same).where(ApiKey.tenant_id == tenant_id)


def _held(query: Select[ApiKey, User]) -> Select[ApiKey, User]:
    return query.with_for_update(of=ApiKey).execution_options(populate_existing=True)
