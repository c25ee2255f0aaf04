"""Conversations in Redis, for multiple servers: consecutive turns may be answered by different servers.

A list of turns for each conversation, and a sorted set of conversations by when they were used last; one script does
each change atomically. When Redis is down, conversations have no history; no turn fails. Imports redis-py.
"""

import hashlib
import time
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.agents.assistant.memory.conversation import (
    MAX_SESSIONS,
    MAX_TURNS_PER_SESSION,
    ConversationTurn,
    SessionKey,
    why_not_stored,
)
from headgate.agents.assistant.memory.sealing import opened_turns, sealed_turns
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.encryption.keys import DataKeys
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger

PREFIX = "headgate:assistant:conversation"
PATIENCE_SECONDS = 1.0
log = get_logger(__name__)

_PUSH = """
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[2]), -1)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[3], KEYS[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. (tonumber(ARGV[3]) - tonumber(ARGV[5])))
redis.call('PEXPIRE', KEYS[2], ARGV[5])
local gone = 0
while redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[4]) do
    local oldest = redis.call('ZPOPMIN', KEYS[2])
    redis.call('DEL', oldest[1])
    gone = gone + 1
end
return {redis.call('LLEN', KEYS[1]), redis.call('ZCARD', KEYS[2]), gone}
"""
_CLEAR = """
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], KEYS[1])
return redis.call('ZCARD', KEYS[2])
"""


class RedisBuffer:
    """The same bounds as in a process, for all servers together, and a time after which a silent one is forgotten.

    Args:
        url: The Redis database.
        keep_seconds: How long a conversation is stored after its last turn.
        keys: Data keys of tenants, for encryption.
        metrics: Metrics.
    """

    def __init__(self, url: str, keep_seconds: float, keys: DataKeys, metrics: AssistantMetrics | None = None) -> None:
        self._keys = keys
        self._metrics = metrics or AssistantMetrics()
        self._client: Redis = Redis.from_url(
            url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS
        )
        self._keep_ms = max(1, round(keep_seconds * 1000))
        self._push: Any = self._client.register_script(_PUSH)
        self._clear: Any = self._client.register_script(_CLEAR)

    async def get_recent(self, key: SessionKey | None) -> Sequence[ConversationTurn]:
        """The turns that are remembered, the oldest first; none when Redis is away."""
        if key is None:
            return ()
        try:
            entries: Any = await self._client.lrange(_name(key), 0, -1)
        except (RedisError, OSError) as error:
            log.warning("assistant.conversation_buffer.unavailable", reason=type(error).__name__)
            return ()
        turns = [await opened_turns(entry.decode(), key, self._keys.get) for entry in entries]
        return [ConversationTurn(*turn) for turn in turns if turn]

    async def push_async(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """Remember a turn; one script, so that turns that end at once lose nothing."""
        why_not = why_not_stored(key, turn)
        if key is None or why_not:
            self._metrics.turn_skipped(why_not)
            return
        stored_turn = turn.clipped()
        now = round(time.time() * 1000)
        try:
            written = sealed_turns(
                [stored_turn.user, stored_turn.assistant], key, await self._keys.current(key.tenant_id)
            )
            length, sessions, gone = await self._push(
                keys=[_name(key), f"{PREFIX}s"],
                args=[written, MAX_TURNS_PER_SESSION, now, MAX_SESSIONS, self._keep_ms],
            )
        except (RedisError, OSError, Unavailable) as error:
            log.warning("assistant.conversation_buffer.unavailable", reason=type(error).__name__)
            return
        self._metrics.turn_recorded(key.session_id, length, len(turn.user), len(turn.assistant))
        for _ in range(gone):
            self._metrics.session_evicted("", sessions)
        self._metrics.sessions_remembered(sessions)

    async def clear(self, key: SessionKey | None) -> None:
        """Forget a conversation; idempotent."""
        if key is None:
            return
        try:
            sessions = await self._clear(keys=[_name(key), f"{PREFIX}s"])
        except (RedisError, OSError) as error:
            log.warning("assistant.conversation_buffer.unavailable", reason=type(error).__name__)
            return
        self._metrics.sessions_remembered(sessions)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _name(key: SessionKey) -> str:
    """Return the hashed key of a conversation: Redis keys contain no personal data."""
    plain = "\x00".join((key.tenant_id, key.user_id, key.session_id))
    return f"{PREFIX}:{hashlib.sha256(plain.encode()).hexdigest()}"
