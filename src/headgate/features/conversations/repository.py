"""Queries on conversations with the assistant. Tenant and user are always required."""

from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.conversations.tables import assistant_conversations, flow_conversations
from headgate.foundation.database import insert_into

_C = assistant_conversations.c
_KEY = (_C.tenant_id, _C.user_id, _C.session_hash)


async def find_conversation(
    session: AsyncSession, session_id: str, *, tenant_id: str, user_id: str
) -> Row[Any, Any] | None:
    """Return `turns` and `used_at` of a user's conversation."""
    query = select(_C.turns, _C.used_at).where(*_of(tenant_id, user_id), _C.session_hash == _hash(session_id))
    return (await session.execute(query)).one_or_none()


async def put_conversation(
    session: AsyncSession, session_id: str, turns: str, at: int, *, tenant_id: str, user_id: str
) -> None:
    """Insert or update the turns of a conversation. Raises `IntegrityError` for an unknown user."""
    values = {"turns": turns, "used_at": at}
    key = {"tenant_id": tenant_id, "user_id": user_id, "session_hash": _hash(session_id)}
    query = insert_into(session, assistant_conversations).values(**key, **values)
    await session.execute(query.on_conflict_do_update(index_elements=list(key), set_=values))


async def delete_conversation(session: AsyncSession, session_id: str, *, tenant_id: str, user_id: str) -> None:
    """Delete one conversation of a user."""
    await session.execute(
        delete(assistant_conversations).where(*_of(tenant_id, user_id), _C.session_hash == _hash(session_id))
    )


async def delete_conversations(session: AsyncSession, *, tenant_id: str, user_id: str) -> None:
    """Delete every conversation of a user, with the assistant and with flows."""
    await session.execute(delete(assistant_conversations).where(*_of(tenant_id, user_id)))
    owned = flow_conversations.c.tenant_id == tenant_id, flow_conversations.c.user_id == user_id
    await session.execute(delete(flow_conversations).where(*owned))


async def delete_older(session: AsyncSession, most: int, *, tenant_id: str, user_id: str) -> int:
    """Delete all but the user's most recently used conversations. Returns the number deleted."""
    owner = _of(tenant_id, user_id)
    latest = select(_C.session_hash).where(*owner).order_by(_C.used_at.desc(), _C.session_hash).limit(most)
    result = await session.execute(delete(assistant_conversations).where(*owner, _C.session_hash.not_in(latest)))
    return int(result.rowcount)  # type: ignore[attr-defined]


async def delete_expired_conversations(session: AsyncSession, before: int) -> None:
    """Delete conversations last used before this time; rows that another transaction deletes are skipped."""
    expired = select(*_KEY).where(_C.used_at < before).with_for_update(skip_locked=True)
    await session.execute(delete(assistant_conversations).where(tuple_(*_KEY).in_(expired)))


async def count_conversations(session: AsyncSession) -> int:
    """Return the number of stored conversations."""
    return (await session.execute(select(func.count()).select_from(assistant_conversations))).scalar_one()


def _of(tenant_id: str, user_id: str) -> tuple[ColumnElement[bool], ...]:
    return _C.tenant_id == tenant_id, _C.user_id == user_id


def _hash(session_id: str) -> str:
    """Return the stored form of the id: callers choose ids, and any text is one."""
    return sha256(session_id.encode()).hexdigest()
