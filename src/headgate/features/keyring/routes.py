"""HTTP routes of the installation's keys."""

from typing import Annotated

from fastapi import Depends, Path

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.keyring import service
from headgate.features.keyring.schemas import KeyringOut, RetiredOut, RevokeIn
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession, get_database, part
from headgate.foundation.database import Database
from headgate.foundation.keyring import KeyRing, Purpose

router = Routes(prefix="/keyring", tags=["keyring"])
_MANAGE = [needs(Permission.KEYRING_MANAGE)]


Ring = Annotated[KeyRing, part("ring")]
KeyId = Annotated[str, Path(max_length=16)]


@router.get("", "List the installation's keys", _MANAGE, problems=(403,))
async def list_(session: ReadSession, caller: Caller, ring: Ring) -> Page[KeyringOut]:
    """Keys that encrypt secrets and sign evidence, their usage, and the progress of a rotation."""
    return Page(items=[KeyringOut.of(entry) for entry in await service.list_keys(session, caller, ring)])


@router.post("/{purpose}/rotate", "Rotate a key", _MANAGE, status_code=202, problems=(403, 409))
async def rotate(purpose: Purpose, session: WriteSession, caller: Caller, ring: Ring) -> Page[KeyringOut]:
    """Create a key. It becomes current when every process can read it; then values are re-encrypted."""
    await service.rotate(session, caller, ring, purpose)
    return Page(items=[KeyringOut.of(entry) for entry in await service.list_keys(session, caller, ring)])


@router.post("/keys/{key}/retire", "Retire a key", _MANAGE, problems=(403, 404, 409))
async def retire(
    key: KeyId, caller: Caller, ring: Ring, database: Annotated[Database, Depends(get_database)]
) -> RetiredOut:
    """Delete an old key that encrypts no stored value. Its signatures stay valid."""
    return RetiredOut(left=await service.retire(database, caller, ring, key))


@router.post("/keys/{key}/revoke", "Revoke a signing key", _MANAGE, problems=(403, 404, 409))
async def revoke(key: KeyId, body: RevokeIn, session: WriteSession, caller: Caller) -> None:
    """Revoke a compromised old signing key: evidence that it signed is no longer accepted."""
    await service.revoke(session, caller, key, reason=body.reason)
