"""Reading, checking and exporting a tenant's audit log."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit import repository
from headgate.features.audit.chain import GENESIS, MEMBERS, Entry
from headgate.features.audit.export import Head, csv_head, csv_line, entry_line, head_line
from headgate.features.audit.repository import Wanted
from headgate.features.audit.tables import AuditEvent
from headgate.features.audit.walk import Found, Verdict
from headgate.foundation.database import Database, now
from headgate.foundation.signing import Signer

BATCH = 500
"""Entries that are read at a time: no transaction is open between two batches."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a chain and the hash of its entry, as somebody wrote it down elsewhere."""

    seq: int
    hash: str


async def list_events(
    session: AsyncSession, principal: Principal, wanted: Wanted, *, limit: int = 50, before: int | None = None
) -> Sequence[AuditEvent]:
    """Entries of the caller's tenant, newest first. Raises `PermissionMissing`."""
    _require(principal)
    return await repository.list_events(session, wanted, tenant_id=principal.tenant_id, limit=limit, before=before)


async def get_head(session: AsyncSession, principal: Principal) -> Place:
    """The end of the caller's chain. Raises `PermissionMissing`."""
    _require(principal)
    end = await repository.find_end(session, tenant_id=principal.tenant_id)
    return Place(0, GENESIS) if end is None else Place(end.seq, end.hash)


async def verify_chain(database: Database, principal: Principal, noted: Place | None = None) -> Verdict:
    """Go along the caller's whole chain. Raises `PermissionMissing`.

    Args:
        database: Where it is.
        principal: Whose it is.
        noted: An end that was written down earlier, elsewhere. Whoever owns the database can change an entry and work
            out every hash after it anew; only what they cannot reach shows that.
    """
    _require(principal)
    verdict = Verdict()
    async with database.reading() as session:
        end = await repository.find_end(session, tenant_id=principal.tenant_id)
        there = await repository.find_hash(session, noted.seq, tenant_id=principal.tenant_id) if noted else None
    if end is not None:
        async for found in _entries(database, principal.tenant_id, after=0, last=max(end.seq, end.last)):
            verdict.pass_by(found)
        verdict.end_at(end.seq, end.hash)
    if noted is not None and there != noted.hash:
        verdict.blame(f"entry {noted.seq}", "it is not the one whose hash was written down: the log was made anew.")
    return verdict


async def head_of_export(
    session: AsyncSession, principal: Principal, *, since: datetime | None = None, until: datetime | None = None
) -> Head:
    """What an export of a period has in it: every entry from the first to the last of the period.

    Raises `PermissionMissing`.
    """
    _require(principal)
    tenant = principal.tenant_id
    first, last = await repository.find_range(session, tenant_id=tenant, since=since, until=until)
    if not last:
        first = (await get_head(session, principal)).seq + 1
        last = first - 1
    before = await repository.find_hash(session, first - 1, tenant_id=tenant)
    end = await repository.find_hash(session, last, tenant_id=tenant)
    return Head(
        tenant_id=tenant,
        first=first,
        last=last,
        previous=before or GENESIS,
        hash=end or GENESIS,
        exported_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
    )


async def export_lines(database: Database, head: Head, signer: Signer | None) -> AsyncIterator[bytes]:
    """The file of an export, piece by piece: JSON Lines with a signer, CSV without."""
    waiting = [csv_head() if signer is None else head_line(signer, head)]
    write = csv_line if signer is None else entry_line
    async for found in _entries(database, head.tenant_id, after=head.first - 1, last=head.last):
        waiting.append(write(found))
        if len(waiting) >= BATCH:
            yield b"".join(waiting)
            waiting.clear()
    yield b"".join(waiting)


async def _entries(database: Database, tenant_id: str, *, after: int, last: int) -> AsyncIterator[Found]:
    while after < last:
        async with database.reading() as session:
            rows = await repository.read_rows(session, tenant_id=tenant_id, after=after, last=last, limit=BATCH)
        if not rows:
            return
        for row in rows:
            yield _found(row)
        after = rows[-1]["seq"]


def _found(row: Mapping[str, Any]) -> Found:
    try:
        content = Entry(**{name: row[name] for name in MEMBERS}).content
    except (TypeError, ValueError, OverflowError):  # a moment that is none: somebody wrote into the row
        content = None
    return Found(row["seq"], content, row["content_digest"], row["hash"])


def _require(principal: Principal) -> None:
    """For commands too, which no route has asked already."""
    principal.require(Permission.AUDIT_VIEW)
