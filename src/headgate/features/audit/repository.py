"""Every query on the audit log. The tenant is always required."""

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
class Wanted:
    """Which entries are asked for; None: any."""

    actor: str | None = None
    """A user's id, or a name as the entry has it."""
    key: str | None = None
    """An API key's id or prefix."""
    action: str | None = None
    """An action, or how it begins: `flow.`."""
    resource_kind: str | None = None
    resource_id: str | None = None
    space_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Before this moment."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a chain: what the head says, and the last place that is really taken."""

    seq: int
    hash: str
    last: int


async def list_events(
    session: AsyncSession, wanted: Wanted, *, tenant_id: str, limit: int, before: int | None = None
) -> Sequence[AuditEvent]:
    """Newest first; `before` is the place of the last entry of the page before."""
    query = _matching(select(AuditEvent).where(AuditEvent.tenant_id == tenant_id), wanted)
    if before is not None:
        query = query.where(AuditEvent.seq < before)
    return (await session.scalars(query.order_by(AuditEvent.seq.desc()).limit(limit))).all()


async def find_end(session: AsyncSession, *, tenant_id: str) -> End | None:
    """Where the chain ends, as it was at one moment. None when nothing was ever written."""
    last = select(func.max(AuditEvent.seq)).where(AuditEvent.tenant_id == tenant_id)
    head = AuditHead.tenant_id == tenant_id
    seq, hash_ = select(AuditHead.seq).where(head), select(AuditHead.hash).where(head)
    query = select(last.scalar_subquery(), seq.scalar_subquery(), hash_.scalar_subquery())
    taken, place, found = (await session.execute(query)).one()
    return None if taken is None and place is None else End(place or 0, found or "", taken or 0)


async def find_range(
    session: AsyncSession, *, tenant_id: str, since: datetime | None, until: datetime | None
) -> tuple[int, int]:
    """First and last place of a period; (0, 0) when nothing happened in it."""
    query = select(func.min(AuditEvent.seq), func.max(AuditEvent.seq)).where(AuditEvent.tenant_id == tenant_id)
    if since is not None:
        query = query.where(AuditEvent.at >= since)
    if until is not None:
        query = query.where(AuditEvent.at < until)
    first, last = (await session.execute(query)).one()
    return (first or 0), (last or 0)


async def find_hash(session: AsyncSession, seq: int, *, tenant_id: str) -> str | None:
    """The hash of the entry at a place."""
    query = select(AuditEvent.hash).where(AuditEvent.tenant_id == tenant_id, AuditEvent.seq == seq)
    return (await session.execute(query)).scalar_one_or_none()


async def read_rows(
    session: AsyncSession, *, tenant_id: str, after: int, last: int, limit: int
) -> Sequence[dict[str, Any]]:
    """Entries in order, as they are stored: whoever changed one may have put anything there."""
    columns = ", ".join(_RAW)
    query = text(
        f"SELECT {columns} FROM audit_events"  # noqa: S608 - own names
        " WHERE tenant_id = :tenant_id AND seq > :after AND seq <= :last ORDER BY seq LIMIT :limit"
    )
    values = {"tenant_id": tenant_id, "after": after, "last": last, "limit": limit}
    return [dict(row) for row in (await session.execute(query, values)).mappings()]


def _matching(query: Select[AuditEvent], wanted: Wanted) -> Select[AuditEvent]:
    same = {
        AuditEvent.resource_kind: wanted.resource_kind,
        AuditEvent.resource_id: wanted.resource_id,
        AuditEvent.space_id: wanted.space_id,
    }
    for column, value in same.items():
        if value is not None:
            query = query.where(column == value)
    if wanted.actor is not None:
        query = query.where(or_(AuditEvent.actor_id == wanted.actor, AuditEvent.actor_name == wanted.actor))
    if wanted.key is not None:
        query = query.where(or_(AuditEvent.key_id == wanted.key, AuditEvent.key_prefix == wanted.key))
    if wanted.action is not None:
        query = query.where(AuditEvent.action.startswith(wanted.action, autoescape=True))
    if wanted.since is not None:
        query = query.where(AuditEvent.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(AuditEvent.at < wanted.until)
    return query
