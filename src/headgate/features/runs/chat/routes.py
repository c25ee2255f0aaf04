"""HTTP routes of conversations with published flows."""

from functools import partial
from typing import Annotated

from fastapi import Depends, Query, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.idempotency.http import Once
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.chat import feedback, service
from headgate.features.runs.chat.messages import list_messages, send_message
from headgate.features.runs.chat.schemas import (
    ChatFlow,
    ChatFlowOut,
    ConversationIn,
    ConversationOut,
    ConversationPatch,
    FeedbackIn,
    FeedbackOut,
    MessageIn,
    RatedAnswer,
)
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.service import answer_of, get_run
from headgate.features.runs.views.client_waits import wait_or_end
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    WriteSession,
    get_database,
    parse_cursor,
    part,
)
from headgate.foundation.database import Database

router = Routes(prefix="/chat", tags=["runs"])
Rows = Annotated[Database, Depends(get_database)]
Search = Annotated[str, Query(max_length=200)]
_START = [needs(Permission.RUNS_START)]
_EDIT = [needs(Permission.KNOWLEDGE_EDIT)]


Engine = Annotated[ExecutionBackend, part("engine")]


@router.get("/flows", "List flows to chat with", _START)
async def list_flows(
    session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None, search: Search = ""
) -> Page[ChatFlow]:
    """List the published flows with a chat input and without a form that you may run, newest first."""
    items, following = await service.list_flows(
        session, caller, search=search, limit=limit, before=parse_cursor(cursor)
    )
    return Page(items=items, next_cursor=following)


@router.get("/flows/{flow_id}", "Read a flow to chat with", _START, problems=(404,))
async def read_flow(flow_id: str, session: ReadSession, caller: Caller) -> ChatFlowOut:
    """Return what the chat shows of a published flow, without its definition."""
    return await service.get_chat_flow(session, caller, flow_id)


@router.get("/conversations", "List conversations", _START, problems=(404,))
async def list_(
    session: ReadSession,
    caller: Caller,
    flow_id: Annotated[str, Query(max_length=36)],
    limit: Limit = 50,
    cursor: Cursor = None,
    search: Search = "",
) -> Page[ConversationOut]:
    """List your conversations with a flow, the last used first. `search` finds words of their titles."""
    items, following = await service.list_conversations(
        session, caller, flow_id, search=search, limit=limit, before=parse_cursor(cursor)
    )
    return Page(items=items, next_cursor=following)


@router.post("/conversations", "Start a conversation", _START, status_code=201, problems=(404,))
async def add(body: ConversationIn, session: WriteSession, caller: Caller) -> ConversationOut:
    """Start a conversation with a published flow. Only you can read it; you keep the 1,000 last used of each flow."""
    return await service.add_conversation(session, caller, body.flow_id)


@router.patch("/conversations/{conversation_id}", "Rename a conversation", _START, problems=(404,))
async def rename(
    conversation_id: str, body: ConversationPatch, session: WriteSession, caller: Caller
) -> ConversationOut:
    """Rename one of your conversations."""
    return await service.rename_conversation(session, caller, conversation_id, body.title)


@router.delete("/conversations/{conversation_id}", "Delete a conversation", _START, problems=(404,))
async def delete(conversation_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete one of your conversations. Its runs stay until the retention of the flow deletes them."""
    await service.delete_conversation(session, caller, conversation_id)


@router.get("/conversations/{conversation_id}/messages", "List messages of a conversation", _START, problems=(404,))
async def messages(
    conversation_id: str,
    database: Rows,
    engine: Engine,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=50, description="Messages per page.")] = 20,
    cursor: Cursor = None,
) -> Page[RunOut]:
    """List the messages of one of your conversations, newest first: each is a run with its input and its result."""
    items, following = await list_messages(
        database, engine, caller, conversation_id, limit=limit, before=parse_cursor(cursor)
    )
    return Page(items=items, next_cursor=following)


@router.post(
    "/conversations/{conversation_id}/messages", "Send a message", _START, status_code=201, problems=(404, 409)
)
async def send(
    conversation_id: str,
    body: MessageIn,
    database: Rows,
    engine: Engine,
    caller: Caller,
    once: Once,
    response: Response,
) -> RunOut:
    """Run the published version with the message; the flow receives the earlier messages of the conversation.

    Responds as soon as the run is stored; `GET /flow-runs/{run_id}/events` streams the answer. With `wait` it responds
    when the run is over, or with 202 when it waits for an approval or an event.
    """

    async def begin(key: StartKey | None) -> str:
        return await send_message(database, engine, caller, conversation_id, body, once=key)

    run_id = await once.begin(begin, may_read=partial(get_run, engine, caller))
    if not body.wait:
        return await answer_of(engine, caller, run_id)
    run = await wait_or_end(engine, caller, run_id)
    if run.waits_for is not None:
        response.status_code = 202
    return run


@router.get("/conversations/{conversation_id}/feedback", "List feedback on a conversation", _START, problems=(404,))
async def conversation_feedback(conversation_id: str, session: ReadSession, caller: Caller) -> list[FeedbackOut]:
    """List what you think of the answers of one of your conversations."""
    return await feedback.list_feedback(session, caller, conversation_id)


@router.put("/conversations/{conversation_id}/messages/{run_id}/feedback", "Rate an answer", _START, problems=(404,))
async def rate(
    conversation_id: str, run_id: str, body: FeedbackIn, session: WriteSession, caller: Caller
) -> FeedbackOut:
    """Store what you think of an answer, and what a correct one would be; editors of the flow's space can read it."""
    return await feedback.put_feedback(session, caller, conversation_id, run_id, body)


@router.get("/feedback/{base_id}", "List rated answers", _EDIT, problems=(403, 404))
async def rated_answers(
    database: Rows,
    engine: Engine,
    caller: Caller,
    base_id: str,
    limit: Annotated[int, Query(ge=1, le=50, description="Answers per page.")] = 20,
    cursor: Cursor = None,
) -> Page[RatedAnswer]:
    """List feedback on answers from a knowledge base, newest first: its editors make questions of it."""
    items, following = await feedback.list_rated_answers(
        database, engine, caller, base_id, limit=limit, before=parse_cursor(cursor)
    )
    return Page(items=items, next_cursor=following)


@router.delete("/feedback/{base_id}/{run_id}", "Delete feedback", _EDIT, problems=(403, 404))
async def delete_feedback(base_id: str, run_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete feedback on an answer from a knowledge base, for example when it has become a question."""
    await feedback.delete_feedback(session, caller, base_id, run_id)
