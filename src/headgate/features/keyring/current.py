"""Reads which keys are the current ones: a part of every start, so it imports little."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.keyring import Purpose

_CURRENT = text("SELECT purpose, id FROM installation_keys WHERE state = 'current'")


async def read_current(session: AsyncSession) -> dict[Purpose, str]:
    """Purpose to the id of its current key; a purpose without a rotation is not in it."""
    return {Purpose(row.purpose): row.id for row in await session.execute(_CURRENT)}
