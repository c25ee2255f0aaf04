"""Queries on the audit log. The tenant is always required."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.audit.chain import MEMBERS
from headgate.features.audit.tables import AuditEvent, AuditHead

_RAW = ("seq", "content_digest", "hash", *MEMBERS)


@dataclass(frozen=True, slots=True)
class EventFilters:
    """Filters of entries; None: any."""

    actor: str | None = None
    """A user's id, or a name as in the entry."""
    key: str | None = None
    """An API key's id or prefix."""
    action: str | None = None
    """An action, or its prefix: `flow.`."""
    resource_kind: str | None = None
    resource_id: str | None = None
    space_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Upper bound of the time."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a chain: according to the head, and the last existing number."""

    seq: int
    hash: str
    last: int


async def list_events(
    session: AsyncSession, filters: EventFilters, *, tenant_id: str, limit: int, before: int | None = None
) -> Sequence[AuditEvent]:
    """Return entries, newest first; `before` is the last number of the previous page."""
    query = _matching(select(AuditEvent).where(AuditEvent.tenant_id == tenant_id), filters)
    if before is not None:
        query = query.where(AuditEvent.seq < before)
    return (await session.scalars(query.order_by(AuditEvent.seq.desc()).limit(limit))).all()


async def find_end(session: AsyncSession, *, tenant_id: str) -> End | None:
    """Return the end of the chain, read consistently. None when there are no entries."""
    last = select(func.max(AuditEvent.seq)).where(AuditEvent.tenant_id == tenant_id)
    head = AuditHead.tenant_id == tenant_id
    seq, hash_ = select(AuditHead.seq).where(head), select(AuditHead.hash).where(head)
    query = select(last.scalar_subquery(), seq.scalar_subquery(), hash_.scalar_subquery())
    taken, head_seq, head_hash = (await session.execute(query)).one()
    return None if taken is None and head_seq is None else End(head_seq or 0, head_hash or "", taken or 0)


async def find_range(
    session: AsyncSession, *, tenant_id: str, since: datetime | None, until: datetime | None
) -> tuple[int, int]:
    """Return the first and last number of a period; (0, 0) when it has no entries."""
    query = select(func.min(AuditEvent.seq), func.max(AuditEvent.seq)).where(AuditEvent.tenant_id == tenant_id)
    if since is not None:
        query = query.where(AuditEvent.at >= since)
    if until is not None:
        query = query.where(AuditEvent.at < until)
    first, last = (await session.execute(query)).one()
    return (first or 0), (last or 0)


async def find_hash(session: AsyncSession, seq: int, *, tenant_id: str) -> str | None:
    """Return the hash of the entry with a number."""
    query = select(AuditEvent.hash).where(AuditEvent.tenant_id == tenant_id, AuditEvent.seq == seq)
    return (await session.execute(query)).scalar_one_or_none()


async def read_rows(
    session: AsyncSession, *, tenant_id: str, after: int, last: int, limit: int
) -> Sequence[dict[str, Any]]:
    """Return entries in order, as stored: they may have been tampered with."""
    columns = ", ".join(_RAW)
    query = text(
        f"SELECT {columns} FROM audit_events"  # noqa: S608 - own names
        " WHERE tenant_id = :tenant_id AND seq > :after AND seq <= :last ORDER BY seq LIMIT :limit"
    )
    values = {"tenant_id": tenant_id, "after": after, "last": last, "limit": limit}
    return [dict(row) for row in (await session.execute(query, values)).mappings()]


def _matching(query: Select[AuditEvent], filters: EventFilters) -> Select[AuditEvent]:
    same = {
        AuditEvent.resource_kind: filters.resource_kind,
        AuditEvent.resource_id: filters.resource_id,
        AuditEvent.space_id: filters.space_id,
    }
    for column, value in same.items():
        if value is not None:
            query = query.where(column == value)
    if filters.actor is not None:
        query = query.where(or_(AuditEvent.actor_id == filters.actor, AuditEvent.actor_name == filters.actor))
    if filters.key is not None:
        query = query.where(or_(AuditEvent.key_id == filters.key, AuditEvent.key_prefix == filters.key))
    if filters.action is not None:
        query = query.where(AuditEvent.action.startswith(filters.action, autoescape=True))
    if filters.since is not None:
        query = query.where(AuditEvent.at >= filters.since)
    if filters.until is not None:
        query = query.where(AuditEvent.at < filters.until)
    return query
