"""Reading, verifying and exporting a tenant's audit log."""

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
from headgate.features.audit.repository import EventFilters
from headgate.features.audit.tables import AuditEvent
from headgate.features.audit.walk import StoredEntry, Verdict
from headgate.foundation.database import Database, now
from headgate.foundation.signing import Signer

BATCH = 500
"""Entries per batch: no transaction is open between two batches."""


@dataclass(frozen=True, slots=True)
class Place:
    """A number in a chain and the hash of its entry, as stored elsewhere."""

    seq: int
    hash: str


async def list_events(
    session: AsyncSession, principal: Principal, filters: EventFilters, *, limit: int = 50, before: int | None = None
) -> Sequence[AuditEvent]:
    """Return entries of the caller's tenant, newest first. Raises `PermissionMissing`."""
    _require(principal)
    return await repository.list_events(session, filters, tenant_id=principal.tenant_id, limit=limit, before=before)


async def get_head(session: AsyncSession, principal: Principal) -> Place:
    """Return the end of the caller's chain. Raises `PermissionMissing`."""
    _require(principal)
    end = await repository.find_end(session, tenant_id=principal.tenant_id)
    return Place(0, GENESIS) if end is None else Place(end.seq, end.hash)


async def verify_chain(database: Database, principal: Principal, noted: Place | None = None) -> Verdict:
    """Verify the caller's complete chain. Raises `PermissionMissing`.

    Args:
        database: The database.
        principal: The caller.
        noted: An end that was stored elsewhere. The owner of the database can change an entry and recompute every later
            hash; only a comparison with external data reveals that.
    """
    _require(principal)
    verdict = Verdict()
    async with database.reading() as session:
        end = await repository.find_end(session, tenant_id=principal.tenant_id)
        stored_hash = await repository.find_hash(session, noted.seq, tenant_id=principal.tenant_id) if noted else None
    if end is not None:
        async for entry in _entries(database, principal.tenant_id, after=0, last=max(end.seq, end.last)):
            verdict.verify_entry(entry)
        verdict.verify_end(end.seq, end.hash)
    if noted is not None and stored_hash != noted.hash:
        verdict.add_fault(f"entry {noted.seq}", "its hash differs from the one that was noted: the log was rewritten.")
    return verdict


async def head_of_export(
    session: AsyncSession, principal: Principal, *, since: datetime | None = None, until: datetime | None = None
) -> Head:
    """Return the head of an export: every entry from the first to the last of the period.

    Raises `PermissionMissing`.
    """
    _require(principal)
    tenant = principal.tenant_id
    first, last = await repository.find_range(session, tenant_id=tenant, since=since, until=until)
    if not last:
        first = (await get_head(session, principal)).seq + 1
        last = first - 1
    previous_hash = await repository.find_hash(session, first - 1, tenant_id=tenant)
    end = await repository.find_hash(session, last, tenant_id=tenant)
    return Head(
        tenant_id=tenant,
        first=first,
        last=last,
        previous=previous_hash or GENESIS,
        hash=end or GENESIS,
        exported_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
    )


async def export_lines(database: Database, head: Head, signer: Signer | None) -> AsyncIterator[bytes]:
    """Yield the file of an export: JSON Lines with a signer, CSV without."""
    waiting = [csv_head() if signer is None else head_line(signer, head)]
    write = csv_line if signer is None else entry_line
    async for entry in _entries(database, head.tenant_id, after=head.first - 1, last=head.last):
        waiting.append(write(entry))
        if len(waiting) >= BATCH:
            yield b"".join(waiting)
            waiting.clear()
    yield b"".join(waiting)


async def _entries(database: Database, tenant_id: str, *, after: int, last: int) -> AsyncIterator[StoredEntry]:
    while after < last:
        async with database.reading() as session:
            rows = await repository.read_rows(session, tenant_id=tenant_id, after=after, last=last, limit=BATCH)
        if not rows:
            return
        for row in rows:
            yield _found(row)
        after = rows[-1]["seq"]


def _found(row: Mapping[str, Any]) -> StoredEntry:
    try:
        content = Entry(**{name: row[name] for name in MEMBERS}).content
    except (TypeError, ValueError, OverflowError):  # an invalid time: the row was tampered with
        content = None
    return StoredEntry(row["seq"], content, row["content_digest"], row["hash"])


def _require(principal: Principal) -> None:
    """Check the permission also for commands, which have no route."""
    principal.require(Permission.AUDIT_VIEW)
