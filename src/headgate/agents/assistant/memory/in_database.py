"""Conversations in the database: servers and commands that use it share them, and none ends with a process.

One transaction reads, another stores; neither is open during a model call. Storing locks the user's row, so that
concurrent turns are all stored, and a user who was deleted during a turn leaves no conversation.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.assistant.memory.conversation import (
    MAX_SESSIONS,
    MAX_TURNS_PER_SESSION,
    ConversationTurn,
    SessionKey,
    why_not_stored,
)
from headgate.agents.assistant.memory.sealing import opened_turns, sealed_turns
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.accounts.users.repository import lock_user
from headgate.features.conversations import repository
from headgate.features.encryption.keys import DataKeys
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger

_MICROSECONDS = 1_000_000
log = get_logger(__name__)


class DatabaseBuffer:
    """Ten turns of each of the hundred conversations that a user used last, and a time after which they expire.

    Args:
        database: The database that stores them.
        keep_seconds: How long a conversation is stored after its last turn.
        keys: Data keys of tenants, for encryption.
        metrics: Counters.
    """

    def __init__(
        self, database: Database, keep_seconds: float, keys: DataKeys, metrics: AssistantMetrics | None = None
    ) -> None:
        self._database = database
        self._keys = keys
        self._metrics = metrics or AssistantMetrics()
        self._keep = round(keep_seconds * _MICROSECONDS)

    async def get_recent(self, key: SessionKey | None) -> Sequence[ConversationTurn]:
        """The stored turns, the oldest first. Raises `Unavailable`."""
        if key is None:
            return ()
        async with self._database.reading() as session:
            row = await repository.find_conversation(
                session, key.session_id, tenant_id=key.tenant_id, user_id=key.user_id
            )
            if row is None or row.used_at < microseconds(now()) - self._keep:
                return ()
            return [ConversationTurn(*turn) for turn in await self._opened(session, key, row.turns)]

    async def push_async(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """Store a turn. Its changes are saved already, so an unavailable database is logged and fails no turn."""
        why_not = why_not_stored(key, turn)
        if key is None or why_not:
            self._metrics.turn_skipped(why_not)
            return
        try:
            await self._store(key, turn.clipped())
        except Unavailable as error:
            log.warning("assistant.conversation_buffer.unavailable", reason=type(error).__name__)

    async def _store(self, key: SessionKey, turn: ConversationTurn) -> None:
        user, at = {"tenant_id": key.tenant_id, "user_id": key.user_id}, microseconds(now())
        async with self._database.writing() as session:
            if await lock_user(session, key.user_id, tenant_id=key.tenant_id) is None:
                self._metrics.turn_skipped("anonymous_session")
                return
            await repository.delete_expired_conversations(session, at - self._keep)
            row = await repository.find_conversation(session, key.session_id, **user)
            expired = row is None or row.used_at < at - self._keep
            earlier = [] if row is None or expired else await self._opened(session, key, row.turns)
            turns = [*earlier, [turn.user, turn.assistant]][-MAX_TURNS_PER_SESSION:]
            stored = sealed_turns(turns, key, await self._keys.current_in(session, key.tenant_id))
            await repository.put_conversation(session, key.session_id, stored, at, **user)
            evicted = await repository.delete_older(session, MAX_SESSIONS, **user)
            sessions = await repository.count_conversations(session)
        self._metrics.turn_recorded(key.session_id, len(turns), len(turn.user), len(turn.assistant))
        for _ in range(evicted):
            self._metrics.session_evicted("", sessions)
        self._metrics.sessions_remembered(sessions)

    async def _opened(self, session: AsyncSession, key: SessionKey, stored: str) -> list[Any]:
        return await opened_turns(stored, key, partial(self._keys.get_in, session))

    async def clear(self, key: SessionKey | None) -> None:
        """Delete a conversation; idempotent. Raises `Unavailable` when it could not be deleted."""
        if key is None:
            return
        async with self._database.writing() as session:
            await repository.delete_conversation(session, key.session_id, tenant_id=key.tenant_id, user_id=key.user_id)
            sessions = await repository.count_conversations(session)
        self._metrics.sessions_remembered(sessions)

    async def close(self) -> None:
        """Nothing to close: the database is closed by its opener."""
