"""Serialises the transactions that grant slots of a name."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 19))")


async def lock_name(session: AsyncSession, name: str, *, tenant_id: str) -> None:
    """Let one transaction at a time grant slots of a name; on SQLite the write lock suffices."""
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(_LOCK, {"name": f"{tenant_id}/{name}"})
