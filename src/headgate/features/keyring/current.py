"""Reads the current keys: part of every start, so it imports little."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.keyring import Purpose

_CURRENT = text("SELECT purpose, id FROM installation_keys WHERE state = 'current'")


async def read_current(session: AsyncSession) -> dict[Purpose, str]:
    """Return the current key id by purpose; purposes without a rotation are omitted."""
    return {Purpose(row.purpose): row.id for row in await session.execute(_CURRENT)}
