"""A conversation: its turns, its owner, and the port of its storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.agents.assistant.protocol import SESSION_PREFIX
from headgate.features.access.principal import Principal
from headgate.foundation.quoting import clipped_to

MAX_TURNS_PER_SESSION = 10
MAX_SESSIONS = 100
MAX_CHARACTERS = 8_000
"""Characters of a request and of an answer; longer texts are truncated, so that memory is bounded in bytes too."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A request and its answer."""

    user: str
    assistant: str

    def format_for_prompt(self) -> str:
        """Return the turn for a model, in a fixed format."""
        return f"User: {self.user}\nAssistant: {self.assistant}"

    def clipped(self) -> "ConversationTurn":
        """Return the turn truncated to the stored length."""
        return ConversationTurn(clipped_to(self.user, MAX_CHARACTERS), clipped_to(self.assistant, MAX_CHARACTERS))


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key of one user's conversation. The same id of another user names another conversation."""

    tenant_id: str
    user_id: str
    session_id: str


def session_key(principal: Principal, session_id: str | None) -> SessionKey | None:
    """The key of a conversation; None for a request without one, and for a caller that is no user."""
    if not session_id or not principal.user_id:
        return None
    return SessionKey(principal.tenant_id, principal.user_id, prefixed(session_id))


def prefixed(session_id: str) -> str:
    """Return the id with the prefix that separates the assistant's conversations from chats of flows."""
    return session_id if session_id.startswith(SESSION_PREFIX) else SESSION_PREFIX + session_id


def why_not_stored(key: SessionKey | None, turn: ConversationTurn) -> str:
    """Return why a turn is not stored, as a metric label; empty when it is."""
    if key is None:
        return "anonymous_session"
    return "" if turn.assistant.strip() else "empty_response"


class ConversationBuffer(Protocol):
    """Stores the last turns of the last conversations. Without a key nothing is stored or returned."""

    async def get_recent(self, key: SessionKey | None) -> Sequence[ConversationTurn]:
        """The turns that are remembered, the oldest first."""

    async def push_async(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """Store a turn; a turn without an answer is not stored."""

    async def clear(self, key: SessionKey | None) -> None:
        """Delete a conversation; idempotent."""

    async def close(self) -> None:
        """Release its resources."""
