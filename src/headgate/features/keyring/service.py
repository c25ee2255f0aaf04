"""Listing, rotating, retiring and revoking the installation's keys."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Column
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import DEFAULT_TENANT_ID, Principal
from headgate.features.audit.recorder import record
from headgate.features.jobs.leases import clock
from headgate.features.keyring import repository
from headgate.features.keyring.errors import KeyInUse, KeyNotFound, KeyNotOld, NotInstallationAdmin, RotationRuns
from headgate.features.keyring.states import READABLE, KeyState
from headgate.foundation.database import Database, encrypted_columns, moment
from headgate.foundation.key_history import KeyRecord
from headgate.foundation.keyring import InstallationKey, KeyRing, Purpose, signer_of


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A key in display form, never its material. Times are microseconds in UTC."""

    id: str
    purpose: Purpose
    state: KeyState
    readable: bool
    """Whether the responding process can read it."""
    public_key: str | None = None
    created_at: int | None = None
    activated_at: int | None = None
    replaced_at: int | None = None
    retired_at: int | None = None
    revoked_at: int | None = None
    reason: str | None = None
    progress: dict[str, Any] | None = None
    running: bool = False
    """Whether the rotation to this key is in progress."""
    values: dict[str, int] = field(default_factory=dict)
    """Column to the number of values encrypted with it."""


async def list_keys(session: AsyncSession, principal: Principal, ring: KeyRing) -> list[KeyEntry]:
    """Return every key, by purpose and age, with its usage. Raises `PermissionMissing`, `NotInstallationAdmin`."""
    _require(principal)
    counts = await repository.count_values(session, encrypted_columns())
    entries = [_entry(row, ring, counts) for row in await repository.list_ring_keys(session)]
    purposes = {entry.purpose for entry in entries}
    firsts = [ring.first(purpose) for purpose in Purpose if purpose not in purposes]
    return [
        *(
            KeyEntry(key.id, key.purpose, KeyState.CURRENT, readable=True, values=counts.get(key.id, {}))
            for key in firsts
        ),
        *entries,
    ]


async def rotate(session: AsyncSession, principal: Principal, ring: KeyRing, purpose: Purpose) -> str:
    """Create and prepare a key; a durable job makes it current and re-encrypts. Returns its id.

    Raises `PermissionMissing`, `NotInstallationAdmin`, `RotationRuns`, or `Unavailable` when it cannot be written.
    """
    _require(principal)
    now = clock()
    first = {row.purpose for row in await repository.list_ring_keys(session) if row.state == KeyState.CURRENT}
    if purpose not in first:
        key = ring.first(purpose)
        await repository.add_ring_key(session, **_columns(key), state=KeyState.CURRENT)
    new = ring.add(purpose)
    added = await repository.add_ring_key(session, **_columns(new), state=KeyState.PREPARED, created_at=now, due_at=now)
    if not added:
        ring.destroy(purpose, new.id)
        raise RotationRuns(purpose)
    await record(
        session, principal, "installation_key.prepared", id=new.id, name=purpose.value, after={"purpose": purpose.value}
    )
    return new.id


async def retire(database: Database, principal: Principal, ring: KeyRing, key_id: str) -> bool:
    """Delete an unused key; a signing key's public half stays.

    Returns whether this machine can still read it, from its environment or a read-only folder. Raises `KeyInUse`, which
    triggers another re-encryption, `KeyNotFound`, `KeyNotOld`, `PermissionMissing` or `NotInstallationAdmin`.
    """
    _require(principal)
    columns = encrypted_columns()
    async with database.reading() as session:  # without a lock first: counting can take a while
        row = await _old_key(session, key_id)
        purpose = Purpose(row.purpose)
        values = await _uses(session, columns, row)
    if not values:
        async with database.writing() as session:
            row = await _old_key(session, key_id)
            if purpose is Purpose.SECRETS:
                await repository.lock_values(session, columns)
                values = await _uses(session, columns, row)
            if not values:
                await repository.change_ring_key(session, key_id, state=KeyState.RETIRED, retired_at=clock())
                await record(session, principal, "installation_key.retired", id=key_id, name=purpose.value)
    if values:
        async with database.writing() as session:
            await repository.wake_current(session, purpose, due_at=clock())
        raise KeyInUse(key_id, values)
    return ring.destroy(purpose, key_id)


async def revoke(session: AsyncSession, principal: Principal, key_id: str, *, reason: str) -> None:
    """Revoke a compromised signing key: its signatures are no longer accepted.

    Raises `KeyNotFound`, `KeyNotOld` for a current key or an encryption key, `PermissionMissing`.
    """
    _require(principal)
    row = await repository.find_ring_key(session, key_id)
    if row is None or row.purpose != Purpose.EVIDENCE:
        raise KeyNotFound(key_id)
    if row.state not in (KeyState.OLD, KeyState.RETIRED):
        raise KeyNotOld(key_id, row.state)
    await repository.change_ring_key(session, key_id, state=KeyState.REVOKED, revoked_at=clock(), reason=reason)
    await record(
        session, principal, "installation_key.revoked", id=key_id, name=row.purpose, payload={"reason": reason}
    )


async def signing_keys(session: AsyncSession, ring: KeyRing) -> list[KeyRecord]:
    """Return the public halves of every key that signed or signs evidence, oldest first. They are public."""
    rows = [row for row in await repository.list_ring_keys(session) if row.purpose == Purpose.EVIDENCE]
    signed = [row for row in rows if row.state != KeyState.PREPARED]
    if not signed:
        first = signer_of(ring.first(Purpose.EVIDENCE).material).key
        return [KeyRecord(**first.model_dump())]
    return [
        KeyRecord(
            key_id=row.id,
            public_key=row.public_key,
            valid_from=_moment(row.activated_at),
            valid_until=_moment(row.replaced_at),
            revoked_at=_moment(row.revoked_at),
            reason=row.reason,
        )
        for row in signed
    ]


async def _old_key(session: AsyncSession, key_id: str) -> Any:  # noqa: ANN401 - a row
    row = await repository.find_ring_key(session, key_id)
    if row is None:
        raise KeyNotFound(key_id)
    if row.state != KeyState.OLD:
        raise KeyNotOld(key_id, row.state)
    return row


async def _uses(session: AsyncSession, columns: Sequence[Column[Any]], row: Any) -> dict[str, int]:  # noqa: ANN401
    """Return the number of values encrypted with a key, by column; values without a key id may belong to any."""
    if row.purpose != Purpose.SECRETS:
        return {}
    counts = await repository.count_values(session, columns)
    uses = dict(counts.get(row.id, {}))
    for column, count in counts.get("", {}).items():
        uses[column] = uses.get(column, 0) + count
    return uses


def _require(principal: Principal) -> None:
    principal.require(Permission.KEYRING_MANAGE)
    if principal.tenant_id != DEFAULT_TENANT_ID:
        raise NotInstallationAdmin


def _columns(key: InstallationKey) -> dict[str, Any]:
    public = signer_of(key.material).key.public_key if key.purpose is Purpose.EVIDENCE else None
    return {"id": key.id, "purpose": key.purpose, "public_key": public}


def _moment(at: int | None) -> datetime | None:
    return None if at is None else moment(at)


def _entry(row: Any, ring: KeyRing, counts: dict[str, dict[str, int]]) -> KeyEntry:  # noqa: ANN401 - a row
    state = KeyState(row.state)
    return KeyEntry(
        row.id,
        Purpose(row.purpose),
        state,
        readable=state in READABLE and ring.has(Purpose(row.purpose), row.id),
        public_key=row.public_key,
        created_at=row.created_at,
        activated_at=row.activated_at,
        replaced_at=row.replaced_at,
        retired_at=row.retired_at,
        revoked_at=row.revoked_at,
        reason=row.reason,
        progress=row.progress,
        running=row.due_at is not None or row.worker_id is not None,
        values=counts.get(row.id, {}),
    )
