"""Turns the encryption of an organisation's content on and off, and destroys its keys."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.encryption import repository
from headgate.features.encryption.errors import EncryptionRequired, NothingToDestroy
from headgate.features.encryption.keys import make_key
from headgate.features.encryption.states import DataKeyState
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import microseconds, now


@dataclass(frozen=True, slots=True)
class Encryption:
    """Whether an organisation's content is encrypted. Times are microseconds in UTC."""

    on: bool
    """Whether new content is encrypted."""
    since: int | None
    """When the current key was created; older content may be unencrypted."""
    keys: int
    """Number of data keys that can open content."""
    destroyed_at: int | None
    """When keys were last destroyed."""


async def encryption_of(session: AsyncSession, principal: Principal, *, always: bool) -> Encryption:
    """The state of the caller's organisation. `always`: the installation's setting. Raises `PermissionMissing`."""
    principal.require(Permission.MAINTENANCE_RUN)
    rows = await repository.list_data_keys(session, tenant_id=principal.tenant_id)
    active = next((row for row in rows if row.state == DataKeyState.ACTIVE), None)
    return Encryption(
        on=always or active is not None,
        since=active.created_at if active is not None else None,
        keys=sum(row.state != DataKeyState.DESTROYED for row in rows),
        destroyed_at=max((row.destroyed_at for row in rows if row.destroyed_at is not None), default=None),
    )


async def enable(session: AsyncSession, principal: Principal, secret_box: SecretBox) -> None:
    """Encrypt new content of the caller's organisation; no effect when already enabled. Raises `PermissionMissing`."""
    principal.require(Permission.MAINTENANCE_RUN)
    await make_key(session, secret_box, principal.tenant_id)


async def disable(session: AsyncSession, principal: Principal, *, always: bool) -> None:
    """Store new content unencrypted again; encrypted content stays encrypted and readable.

    Raises `EncryptionRequired` when the installation's settings require it, `PermissionMissing`.
    """
    principal.require(Permission.MAINTENANCE_RUN)
    if always:
        raise EncryptionRequired
    if await repository.stop_using_keys(session, tenant_id=principal.tenant_id):
        await record(session, principal, "data_key.disabled", id=principal.tenant_id, name="")


async def destroy(session: AsyncSession, principal: Principal) -> int:
    """Destroy every data key of the caller's organisation: content encrypted with them becomes unreadable forever.

    Returns their number. Raises `NothingToDestroy`, `PermissionMissing`.
    """
    principal.require(Permission.MAINTENANCE_RUN)
    count = await repository.destroy_data_keys(session, microseconds(now()), tenant_id=principal.tenant_id)
    if not count:
        raise NothingToDestroy
    await record(session, principal, "data_key.destroyed", id=principal.tenant_id, name="", payload={"keys": count})
    return count
