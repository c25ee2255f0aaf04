"""Conversations in the memory of this process: gone when it ends, never written down."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence

from headgate.agents.assistant.memory.conversation import (
    MAX_SESSIONS,
    MAX_TURNS_PER_SESSION,
    ConversationTurn,
    SessionKey,
)
from headgate.agents.assistant.metrics import AssistantMetrics


class InProcessBuffer:
    """Ten turns of each of the hundred conversations that were used last."""

    def __init__(self, metrics: AssistantMetrics | None = None) -> None:
        self._metrics = metrics or AssistantMetrics()
        self._sessions: OrderedDict[SessionKey, deque[ConversationTurn]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def get_recent(self, key: SessionKey | None) -> Sequence[ConversationTurn]:
        """The turns that are remembered, the oldest first."""
        return tuple(self._sessions.get(key, ())) if key is not None else ()

    def push(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """Remember a turn; the conversation is now the one used last."""
        if key is None:
            self._metrics.turn_skipped("anonymous_session")
            return
        if not turn.assistant.strip():
            self._metrics.turn_skipped("empty_response")
            return
        turns = self._sessions.setdefault(key, deque(maxlen=MAX_TURNS_PER_SESSION))
        turns.append(turn.clipped())
        self._sessions.move_to_end(key)
        self._metrics.turn_recorded(key.session_id, len(turns), len(turn.user), len(turn.assistant))
        while len(self._sessions) > MAX_SESSIONS:
            gone, _turns = self._sessions.popitem(last=False)
            self._metrics.session_evicted(gone.session_id, len(self._sessions))
        self._metrics.sessions_remembered(len(self._sessions))

    async def push_async(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """The same for turns that end at once: one after the other, none is lost."""
        async with self._lock:
            self.push(key, turn)

    async def clear(self, key: SessionKey | None) -> None:
        """Forget a conversation; idempotent."""
        async with self._lock:
            if key is not None:
                self._sessions.pop(key, None)
            self._metrics.sessions_remembered(len(self._sessions))

    async def close(self) -> None:
        """Nothing to let go of."""
