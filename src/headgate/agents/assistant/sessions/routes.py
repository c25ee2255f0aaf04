"""HTTP routes of conversations with the assistant."""

from typing import Annotated

from fastapi import Query

from headgate.agents.assistant.generation.workshop import Workshop
from headgate.agents.assistant.service import Assistant
from headgate.agents.assistant.sessions.service import MAX_SESSION_ID_CHARS, SessionReset, reset_session
from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.foundation.api import Routes, part

router = Routes(prefix="/agentic/sessions", tags=["assistant"])


@router.post("/reset", "Start a new conversation with the assistant", [needs(Permission.FLOWS_EDIT)])
async def reset(
    caller: Caller,
    assistant: Annotated[Assistant, part("assistant")],
    workshop: Annotated[Workshop, part("workshop")],
    session_id: Annotated[
        str | None, Query(max_length=MAX_SESSION_ID_CHARS, description="The conversation to delete.")
    ] = None,
) -> SessionReset:
    """Delete the conversation's messages, and the caller's own components. Flows keep the code they have.

    Only ever the caller's own: who that is comes from the sign-in alone.
    """
    caller.require_somewhere(Permission.FLOWS_EDIT)
    return await reset_session(caller, session_id, memory=assistant.conversations, components=workshop.components)
