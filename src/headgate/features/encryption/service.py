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
    """New content is encrypted."""
    since: int | None
    """When the key was made that encrypts it; older content may be unencrypted."""
    keys: int
    """Data keys that open content."""
    destroyed_at: int | None
    """When keys were destroyed last."""


async def encryption_of(session: AsyncSession, principal: Principal, *, always: bool) -> Encryption:
    """The state of the caller's organisation. `always`: the setting of the installation. Raises `PermissionMissing`."""
    principal.require(Permission.MAINTENANCE_RUN)
    rows = await repository.list_data_keys(session, tenant_id=principal.tenant_id)
    active = next((row for row in rows if row.state == DataKeyState.ACTIVE), None)
    return Encryption(
        on=always or active is not None,
        since=active.created_at if active is not None else None,
        keys=sum(row.state != DataKeyState.DESTROYED for row in rows),
        destroyed_at=max((row.destroyed_at for row in rows if row.destroyed_at is not None), default=None),
    )


async def enable(session: AsyncSession, principal: Principal, box: SecretBox) -> None:
    """Encrypt new content of the caller's organisation; nothing happens when it is. Raises `PermissionMissing`."""
    principal.require(Permission.MAINTENANCE_RUN)
    await make_key(session, box, principal.tenant_id)


async def disable(session: AsyncSession, principal: Principal, *, always: bool) -> None:
    """Store new content unencrypted again; what is encrypted stays so, and readable.

    Raises `EncryptionRequired` where the installation's setting asks for it, `PermissionMissing`.
    """
    principal.require(Permission.MAINTENANCE_RUN)
    if always:
        raise EncryptionRequired
    if await repository.stop_using_keys(session, tenant_id=principal.tenant_id):
        await record(session, principal, "data_key.disabled", id=principal.tenant_id, name="")


async def destroy(session: AsyncSession, principal: Principal) -> int:
    """Destroy every data key of the caller's organisation: what they encrypted can never be read again.

    Returns how many. Raises `NothingToDestroy`, `PermissionMissing`.
    """
    principal.require(Permission.MAINTENANCE_RUN)
    count = await repository.destroy_data_keys(session, microseconds(now()), tenant_id=principal.tenant_id)
    if not count:
        raise NothingToDestroy
    await record(session, principal, "data_key.destroyed", id=principal.tenant_id, name="", payload={"keys": count})
    return count
