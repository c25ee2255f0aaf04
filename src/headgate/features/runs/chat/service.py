"""Conversations of users with published flows.

Each message is a run of the published version with the conversation's id as its chat session: the flow receives the
earlier messages as it does in every chat, and the messages are read back from the runs.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.flows.service import get_flow
from headgate.features.flows.tables import FlowRow
from headgate.features.flows.versions import version_as_it_runs
from headgate.features.runs.chat import repository
from headgate.features.runs.chat.errors import ConversationNotFound, NotAChat
from headgate.features.runs.chat.schemas import ChatFlow, ChatFlowOut, ConversationOut
from headgate.features.runs.transitions import clock
from headgate.foundation.api import page_of
from headgate.foundation.database import moment
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.quoting import shortened
from headgate.graph.model import Flow
from headgate.graph.widget import read_widget

MOST_CONVERSATIONS = 1_000
"""Conversations of a user with one flow; the last used ones are kept."""
LONGEST_TITLE = 80
"""Characters of a title that is made of the first message."""
_FILE_OUTPUTS = frozenset({"message", "files"})
"""Outputs of a chat input that carry the files of a message."""


async def list_flows(
    session: AsyncSession, principal: Principal, *, search: str, limit: int, before: str | None
) -> tuple[Sequence[ChatFlow], str | None]:
    """Return a page of the published flows that the caller can chat with, and the next cursor."""
    rows = await repository.list_chat_flows(
        session,
        tenant_id=principal.tenant_id,
        space_ids=principal.spaces_where(Permission.RUNS_START),
        search=search,
        limit=limit + 1,
        before=before,
    )
    page, following = page_of(rows, limit, "id")
    return [ChatFlow(**_members(row), icon=(row.settings or {}).get("icon", "")) for row in page], following


async def get_chat_flow(session: AsyncSession, principal: Principal, flow_id: str) -> ChatFlowOut:
    """Return a published flow for its chat.

    Raises `FlowNotFound`, `PermissionMissing`, `VersionNotFound`, `NotAChat`.
    """
    row, published = await _chat_flow(session, principal, flow_id)
    widget = read_widget(published.settings.widget)  # publishing checked it
    return ChatFlowOut(
        **_members(row),
        icon=published.settings.icon,
        welcome_text=widget.welcome_text,
        questions=list(widget.questions),
        takes_files=_takes_files(published),
    )


async def list_conversations(
    session: AsyncSession, principal: Principal, flow_id: str, *, search: str, limit: int, before: str | None
) -> tuple[Sequence[ConversationOut], str | None]:
    """Return a page of the caller's conversations with a flow, the last used first, and the next cursor.

    Raises `PermissionMissing`.
    """
    principal.require_somewhere(Permission.RUNS_START)
    rows = await repository.list_conversations(
        session, flow_id, **_owner(principal), search=search, limit=limit + 1, before=before
    )
    page, following = page_of(rows, limit, "position")
    return [_out(row) for row in page], following


async def add_conversation(session: AsyncSession, principal: Principal, flow_id: str) -> ConversationOut:
    """Start a conversation with a flow. The oldest above `MOST_CONVERSATIONS` is deleted.

    Raises `FlowNotFound`, `PermissionMissing`, `VersionNotFound`, `NotAChat`.
    """
    flow, _ = await _chat_flow(session, principal, flow_id)
    conversation_id = new_id()
    await repository.add_conversation(session, conversation_id, flow_id, clock(), **_owner(principal))
    await repository.delete_oldest(session, flow_id, MOST_CONVERSATIONS, **_owner(principal))
    about = {"flow_id": flow_id}
    await record(
        session,
        principal,
        "conversation.created",
        id=conversation_id,
        name=flow.name,
        space_id=flow.space_id,
        after=about,
        payload=about,
    )
    return _out(await _conversation(session, principal, conversation_id))


async def rename_conversation(
    session: AsyncSession, principal: Principal, conversation_id: str, title: str
) -> ConversationOut:
    """Rename a conversation of the caller. Raises `ConversationNotFound`, `FlowNotFound`, `PermissionMissing`."""
    row, flow = await conversation_with_flow(session, principal, conversation_id, lock=True)
    await repository.set_title(session, row.id, title, **_owner(principal))
    await record(
        session,
        principal,
        "conversation.renamed",
        id=row.id,
        name=flow.name,
        space_id=flow.space_id,
        before={"title": row.title},
        after={"title": title},
        payload={"flow_id": flow.id},
    )
    return _out(await _conversation(session, principal, conversation_id))


async def delete_conversation(session: AsyncSession, principal: Principal, conversation_id: str) -> None:
    """Delete a conversation of the caller; its runs stay until the retention of the flow deletes them.

    Raises `ConversationNotFound`, `FlowNotFound`, `PermissionMissing`.
    """
    row, flow = await conversation_with_flow(session, principal, conversation_id, lock=True)
    await repository.delete_conversation(session, row.id, **_owner(principal))
    about = {"flow_id": flow.id}
    await record(
        session,
        principal,
        "conversation.deleted",
        id=row.id,
        name=flow.name,
        space_id=flow.space_id,
        before=about,
        payload=about,
    )


async def continue_conversation(
    session: AsyncSession, principal: Principal, conversation_id: str, text: str
) -> ConversationOut:
    """Move a conversation to the top of the list before its next message, which also is its title if it has none.

    Raises `ConversationNotFound`, `FlowNotFound`, `PermissionMissing`.
    """
    row, _ = await conversation_with_flow(session, principal, conversation_id, lock=True)
    if not row.title:
        title = shortened(" ".join(text[: LONGEST_TITLE * 4].split()), LONGEST_TITLE)
        await repository.set_title(session, row.id, title, **_owner(principal))
    await repository.move_to_top(session, row.id, clock(), **_owner(principal))
    return _out(await _conversation(session, principal, conversation_id))


async def message_runs(
    session: AsyncSession, principal: Principal, conversation_id: str, *, limit: int, before: str | None
) -> Sequence[str]:
    """Return the ids of the runs of a conversation of the caller, newest first.

    Raises `ConversationNotFound`, `FlowNotFound`, `PermissionMissing`.
    """
    row, _ = await conversation_with_flow(session, principal, conversation_id)
    return await repository.list_message_runs(
        session, row.id, row.flow_id, **_owner(principal), limit=limit, before=before
    )


async def _chat_flow(session: AsyncSession, principal: Principal, flow_id: str) -> tuple[FlowRow, Flow]:
    row = await get_flow(session, principal, flow_id, permission=Permission.RUNS_START)
    published = await version_as_it_runs(
        session, principal, flow_id, row.published_version, permission=Permission.RUNS_START
    )
    if published.form or not any(node.type == "ChatInput" for node in published.nodes):
        raise NotAChat(row.name)
    return row, published


async def conversation_with_flow(
    session: AsyncSession, principal: Principal, conversation_id: str, *, lock: bool = False
) -> tuple[repository.AnyRow, FlowRow]:
    """Return a conversation of the caller and its flow. Raises `ConversationNotFound`, `FlowNotFound`."""
    row = await _conversation(session, principal, conversation_id, lock=lock)
    return row, await get_flow(session, principal, row.flow_id, permission=Permission.RUNS_START)


async def _conversation(
    session: AsyncSession, principal: Principal, conversation_id: str, *, lock: bool = False
) -> repository.AnyRow:
    principal.require_somewhere(Permission.RUNS_START)
    row = None
    if is_id(conversation_id):
        row = await repository.find_conversation(session, conversation_id, **_owner(principal), lock=lock)
    if row is None:
        raise ConversationNotFound(conversation_id)
    return row


def _owner(principal: Principal) -> dict[str, str]:
    return {"tenant_id": principal.tenant_id, "user_id": principal.user_id}


def _members(row: Any) -> dict[str, str]:  # noqa: ANN401 - a row
    return {"id": row.id, "name": row.name, "description": row.description, "space_id": row.space_id}


def _out(row: repository.AnyRow) -> ConversationOut:
    return ConversationOut(id=row.id, flow_id=row.flow_id, title=row.title, used_at=moment(row.used_at))


def _takes_files(flow: Flow) -> bool:
    """Return whether a step reads files of a message: a file input, or what is connected to a chat input's files."""
    types = {node.id: node.type for node in flow.nodes}
    return "FileInput" in types.values() or any(
        types.get(edge.source) == "ChatInput" and edge.output in _FILE_OUTPUTS for edge in flow.edges
    )
