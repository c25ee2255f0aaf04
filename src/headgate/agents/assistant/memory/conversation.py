"""A conversation: its turns, whose it is, and the port behind which it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.agents.assistant.protocol import SESSION_PREFIX
from headgate.features.access.principal import Principal
from headgate.foundation.quoting import clipped_to

MAX_TURNS_PER_SESSION = 10
MAX_SESSIONS = 100
MAX_CHARACTERS = 8_000
"""Of what a person said, and of what was answered; longer texts are cut, so that memory is bounded in bytes too."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """What a person said and what was answered."""

    user: str
    assistant: str

    def format_for_prompt(self) -> str:
        """As the model reads it: always the same words around it."""
        return f"User: {self.user}\nAssistant: {self.assistant}"

    def clipped(self) -> "ConversationTurn":
        """The turn at the length at which it is kept."""
        return ConversationTurn(clipped_to(self.user, MAX_CHARACTERS), clipped_to(self.assistant, MAX_CHARACTERS))


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One person's conversation. Somebody else who knows its id comes to another one."""

    tenant_id: str
    user_id: str
    session_id: str


def session_key(principal: Principal, session_id: str | None) -> SessionKey | None:
    """The key of a conversation; None for a request without one, and for a caller that is no user."""
    if not session_id or not principal.user_id:
        return None
    return SessionKey(principal.tenant_id, principal.user_id, prefixed(session_id))


def prefixed(session_id: str) -> str:
    """The id with the prefix that keeps the assistant's conversations apart from chats of flows."""
    return session_id if session_id.startswith(SESSION_PREFIX) else SESSION_PREFIX + session_id


def why_not_kept(key: SessionKey | None, turn: ConversationTurn) -> str:
    """Why a turn is not remembered, as it is counted; empty when it is."""
    if key is None:
        return "anonymous_session"
    return "" if turn.assistant.strip() else "empty_response"


class ConversationBuffer(Protocol):
    """Keeps the last turns of the last conversations. None as a key remembers nothing and gives nothing."""

    async def get_recent(self, key: SessionKey | None) -> Sequence[ConversationTurn]:
        """The turns that are remembered, the oldest first."""
        ...

    async def push_async(self, key: SessionKey | None, turn: ConversationTurn) -> None:
        """Remember a turn; a turn without an answer is not remembered."""
        ...

    async def clear(self, key: SessionKey | None) -> None:
        """Forget a conversation. One that is not there is forgotten already."""
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...
