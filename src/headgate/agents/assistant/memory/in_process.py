"""Conversations in the memory of this process: gone when it ends, never written down."""

from collections import OrderedDict, deque
from collections.abc import Sequence

from headgate.agents.assistant.memory.conversation import (
    MAX_SESSIONS,
    MAX_TURNS_PER_SESSION,
    ConversationTurn,
    SessionKey,
    why_not_kept,
)
from headgate.agents.assistant.metrics import AssistantMetrics


class InProcessBuffer:
    """Ten turns of each of the hundred conversations that were used last."""

    def __init__(self, metrics: AssistantMetrics | None = None) -> None:
        self._metrics = metrics or AssistantMetrics()
        self._sessions: OrderedDict[SessionKey, deque[ConversationTurn]] = OrderedDict()

    async def get_recent(self, key: SessionKey | None) -> Sequence[ConversationTurn]:
        """The turns that are remembered, the oldest first."""
        return tuple(self._sessions.get(key, ())) if key is not None else ()

    async def push_async(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """Remember a turn; the conversation is now the one used last. Nothing is awaited, so no turn is lost."""
        why_not = why_not_kept(key, turn)
        if key is None or why_not:
            self._metrics.turn_skipped(why_not)
            return
        turns = self._sessions.setdefault(key, deque(maxlen=MAX_TURNS_PER_SESSION))
        turns.append(turn.clipped())
        self._sessions.move_to_end(key)
        self._metrics.turn_recorded(key.session_id, len(turns), len(turn.user), len(turn.assistant))
        while len(self._sessions) > MAX_SESSIONS:
            gone, _turns = self._sessions.popitem(last=False)
            self._metrics.session_evicted(gone.session_id, len(self._sessions))
        self._metrics.sessions_remembered(len(self._sessions))

    async def clear(self, key: SessionKey | None) -> None:
        """Forget a conversation; idempotent."""
        if key is not None:
            self._sessions.pop(key, None)
        self._metrics.sessions_remembered(len(self._sessions))

    async def close(self) -> None:
        """Nothing to let go of."""
