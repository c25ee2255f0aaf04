"""Serialises the transactions that match events and waiting steps."""

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.sent_events.topic import Topic

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:topic, 18))")


async def lock_topic(session: AsyncSession, topic: Topic) -> None:
    """Let one transaction at a time match events and steps of a topic; on SQLite the write lock suffices.

    Otherwise a step that looks for early events, and the event that looks for waiting steps, could miss each other.
    """
    if session.get_bind().dialect.name == "postgresql":
        key = orjson.dumps([topic.tenant_id, topic.space_id, topic.name, topic.correlation]).decode()
        await session.execute(_LOCK, {"topic": key})
