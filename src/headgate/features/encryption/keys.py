"""Data keys of tenants, for storing and reading content."""

import base64
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import system_principal
from headgate.features.encryption import repository
from headgate.features.encryption.errors import ContentDestroyed
from headgate.foundation.database import Database, microseconds, moment, now
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.audit import recorder
    from headgate.foundation import sealing
    from headgate.foundation.crypto import SecretBox
    from headgate.foundation.sealing import DataKey
else:
    recorder = lazy_module("headgate.features.audit.recorder")
    sealing = lazy_module("headgate.foundation.sealing")


class DataKeys:
    """Opens the data keys of any tenant.

    Whether a key still exists is read at each use, so that no process uses a destroyed one; only the unwrapped key is
    cached.

    Args:
        database: The database of wrapped keys.
        box: Unwraps them.
        always: Whether every tenant gets a key with its first content.
    """

    def __init__(self, database: Database, box: "SecretBox", *, always: bool) -> None:
        self._database = database
        self._box = box
        self._always = always
        self._opened: dict[str, DataKey] = {}

    async def current(self, tenant_id: str) -> "DataKey | None":
        """Return the key for new content of a tenant; None when content is stored unencrypted."""
        async with self._database.reading() as session:
            row = await repository.find_active_key(session, tenant_id=tenant_id)
        if row is None and self._always:
            async with self._database.writing() as session:
                row = await make_key(session, self._box, tenant_id)
        return None if row is None else self._unwrapped(row)

    async def current_in(self, session: AsyncSession, tenant_id: str) -> "DataKey | None":
        """Return the current key, in a writing transaction."""
        row = await repository.find_active_key(session, tenant_id=tenant_id)
        if row is None and self._always:
            row = await make_key(session, self._box, tenant_id)
        return None if row is None else self._unwrapped(row)

    async def get(self, tenant_id: str, key_id: str) -> "DataKey":
        """Return a key of a tenant. Raises `ContentDestroyed`, also for a key of another tenant."""
        async with self._database.reading() as session:
            return await self.get_in(session, tenant_id, key_id)

    async def get_in(self, session: AsyncSession, tenant_id: str, key_id: str) -> "DataKey":
        """Return a key of a tenant, in an open transaction."""
        row = await repository.find_data_key(session, key_id, tenant_id=tenant_id)
        if row is None or row.wrapped is None:
            self._opened.pop(key_id, None)
            destroyed_at = row.destroyed_at if row is not None else None
            raise ContentDestroyed(None if destroyed_at is None else moment(destroyed_at))
        return self._unwrapped(row)

    def _unwrapped(self, row: Any) -> "DataKey":  # noqa: ANN401 - a row of data_keys
        key = self._opened.get(row.id)
        if key is None:
            material = base64.b64decode(self._box.decrypt(row.wrapped).get_secret_value())
            key = self._opened[row.id] = sealing.DataKey(row.id, row.tenant_id, material)
        return key


async def make_key(session: AsyncSession, box: "SecretBox", tenant_id: str) -> Any:  # noqa: ANN401 - a row
    """Return the active key of a tenant, created when missing. Concurrent callers get the same key."""
    key = sealing.new_data_key(tenant_id)
    wrapped = box.encrypt(SecretStr(base64.b64encode(key.material).decode()))
    row = await repository.find_or_add_key(session, key.id, wrapped, microseconds(now()), tenant_id=tenant_id)
    if row is not None and row.id == key.id:
        await recorder.record(session, system_principal(tenant_id), "data_key.created", id=key.id, name=key.id)
    return row
