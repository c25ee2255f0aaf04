"""Restarts a conversation: its messages are forgotten, its components deleted (seed 000, ADR-MCP-027)."""

from typing import Literal

from pydantic import BaseModel, Field

from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.memory.conversation import ConversationBuffer, session_key
from headgate.features.access.principal import Principal

MAX_SESSION_ID_CHARS = 128


class SessionReset(BaseModel):
    """What was cleared."""

    status: Literal["ok"] = "ok"
    components_cleared: int = Field(description="Custom components of the caller that were removed.")
    session_id: str | None = Field(description="The conversation that was deleted; null when none was named.")


async def reset_session(
    principal: Principal, session_id: str | None, *, memory: ConversationBuffer, components: PersonalComponents
) -> SessionReset:
    """Forget the caller's conversation of that id, and remove the caller's own components. Idempotent.

    Nobody else's can be reached: the key of a conversation holds whose it is, and the workspace is the caller's.
    """
    await memory.clear(session_key(principal, session_id))
    cleared = await components.clear(principal)
    components.metrics.session_reset(cleared)
    return SessionReset(components_cleared=cleared, session_id=session_id)
