"""Queries on conversations with flows. Tenant and user are always required."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, Row, and_, delete, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.conversations.tables import flow_conversations
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionStepRow
from headgate.features.runs.chat.tables import chat_feedback
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import insert_into
from headgate.foundation.ids import new_id

AnyRow = Row[*tuple[Any, ...]]
_C = flow_conversations.c
_F = chat_feedback.c
_PUBLISHED = and_(
    FlowVersionRow.flow_id == FlowRow.id,
    FlowVersionRow.tenant_id == FlowRow.tenant_id,
    FlowVersionRow.version == FlowRow.published_version,
)
_FORM = FlowVersionRow.definition["form"].as_string()
_SETTINGS = FlowVersionRow.definition["settings"].label("settings")


async def list_chat_flows(
    session: AsyncSession,
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    search: str,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """List published flows with a chat input and without a form, newest first; `space_ids` None: of all spaces."""
    query = (
        select(FlowRow.id, FlowRow.name, FlowRow.description, FlowRow.space_id, _SETTINGS)
        .join(FlowVersionRow, _PUBLISHED)
        .where(FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None), *_takes_messages())
    )
    if space_ids is not None:
        query = query.where(FlowRow.space_id.in_(space_ids))
    for word in search.split():
        query = query.where((FlowRow.name + " " + FlowRow.description).icontains(word, autoescape=True))
    if before is not None:
        query = query.where(FlowRow.id < before)
    return (await session.execute(query.order_by(FlowRow.id.desc()).limit(limit))).all()


def _takes_messages() -> tuple[ColumnElement[bool], ...]:
    """Return the conditions on the published version: a chat input, and no form."""
    step = VersionStepRow
    of_version = step.flow_id == FlowVersionRow.flow_id, step.version == FlowVersionRow.version
    return or_(_FORM.is_(None), _FORM == "[]"), exists().where(*of_version, step.type == "ChatInput")


async def list_conversations(
    session: AsyncSession,
    flow_id: str,
    *,
    tenant_id: str,
    user_id: str,
    search: str,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """List a user's conversations with a flow, the last used first; `before` is the last position of the page."""
    query = select(flow_conversations).where(*_owned(tenant_id, user_id), _C.flow_id == flow_id)
    for word in search.split():
        query = query.where(_C.title.icontains(word, autoescape=True))
    if before is not None:
        query = query.where(_C.position < before)
    return (await session.execute(query.order_by(_C.position.desc()).limit(limit))).all()


async def find_conversation(
    session: AsyncSession, conversation_id: str, *, tenant_id: str, user_id: str, lock: bool = False
) -> AnyRow | None:
    """Return a conversation of a user; `lock` holds it until the transaction ends."""
    query = select(flow_conversations).where(*_owned(tenant_id, user_id), _C.id == conversation_id)
    return (await session.execute(query.with_for_update() if lock else query)).one_or_none()


async def add_conversation(
    session: AsyncSession, conversation_id: str, flow_id: str, at: int, *, tenant_id: str, user_id: str
) -> None:
    """Add a conversation without a title. Raises `IntegrityError` for an unknown user."""
    values = {"id": conversation_id, "tenant_id": tenant_id, "user_id": user_id, "flow_id": flow_id}
    place = {"title": "", "position": conversation_id, "used_at": at}
    await session.execute(insert(flow_conversations).values(**values, **place))


async def set_title(session: AsyncSession, conversation_id: str, title: str, *, tenant_id: str, user_id: str) -> None:
    """Set the title of a conversation of a user."""
    owned = update(flow_conversations).where(*_owned(tenant_id, user_id), _C.id == conversation_id)
    await session.execute(owned.values(title=title))


async def move_to_top(session: AsyncSession, conversation_id: str, at: int, *, tenant_id: str, user_id: str) -> None:
    """Make a conversation of a user the last used one."""
    owned = update(flow_conversations).where(*_owned(tenant_id, user_id), _C.id == conversation_id)
    await session.execute(owned.values(position=new_id(), used_at=at))


async def delete_conversation(session: AsyncSession, conversation_id: str, *, tenant_id: str, user_id: str) -> None:
    """Delete a conversation of a user; its runs stay."""
    await session.execute(delete(flow_conversations).where(*_owned(tenant_id, user_id), _C.id == conversation_id))


async def delete_oldest(session: AsyncSession, flow_id: str, most: int, *, tenant_id: str, user_id: str) -> None:
    """Delete all but the last used conversations of a user with a flow."""
    owned = (*_owned(tenant_id, user_id), _C.flow_id == flow_id)
    latest = select(_C.id).where(*owned).order_by(_C.position.desc()).limit(most)
    await session.execute(delete(flow_conversations).where(*owned, _C.id.not_in(latest)))


async def list_message_runs(
    session: AsyncSession,
    conversation_id: str,
    flow_id: str,
    *,
    tenant_id: str,
    user_id: str,
    limit: int,
    before: str | None,
) -> Sequence[str]:
    """List the ids of the runs of a conversation, newest first: those that its owner started in its session."""
    run = flow_runs.c
    query = select(run.id).where(
        run.flow_id == flow_id,
        run.session_id == conversation_id,
        run.tenant_id.concat("") == tenant_id,
        run.user_id == user_id,
    )
    if before is not None:
        query = query.where(run.id < before)
    return (await session.execute(query.order_by(run.id.desc()).limit(limit))).scalars().all()


async def has_message(
    session: AsyncSession,
    run_id: str,
    conversation_id: str | None,
    flow_id: str,
    *,
    tenant_id: str,
    user_id: str | None,
) -> bool:
    """Return whether a run is a message of a conversation of a user; without a user, of a visitor."""
    run = flow_runs.c
    query = select(run.id).where(
        run.id == run_id,
        run.flow_id == flow_id,
        run.session_id == conversation_id,
        run.tenant_id == tenant_id,
        run.user_id == user_id,
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def put_feedback(session: AsyncSession, values: Mapping[str, Any], *, tenant_id: str) -> None:
    """Store feedback on a run in place of an earlier one."""
    row = insert_into(session, chat_feedback).values(tenant_id=tenant_id, **values)
    replaced = row.on_conflict_do_update(index_elements=["run_id"], set_=values, where=_F.tenant_id == tenant_id)
    await session.execute(replaced)


async def list_feedback(
    session: AsyncSession, conversation_id: str, flow_id: str, *, tenant_id: str, user_id: str
) -> Sequence[AnyRow]:
    """List the feedback of a user on the messages of a conversation."""
    run = flow_runs.c
    query = (
        select(chat_feedback)
        .join(flow_runs, (run.id == _F.run_id) & (run.flow_id == _F.flow_id))
        .where(_F.tenant_id == tenant_id, _F.user_id == user_id, _F.flow_id == flow_id)
        .where(run.session_id == conversation_id)
    )
    return (await session.execute(query)).all()


async def list_feedback_on_base(
    session: AsyncSession, base_id: str, space_id: str, *, tenant_id: str, limit: int, before: str | None
) -> Sequence[AnyRow]:
    """List feedback on answers from a base by flows of its space, newest first."""
    query = (
        select(chat_feedback)
        .join(FlowRow, (FlowRow.id == _F.flow_id) & (FlowRow.tenant_id == _F.tenant_id))
        .where(_F.tenant_id == tenant_id, _F.base_id == base_id, FlowRow.space_id == space_id)
        .where(FlowRow.deleted_at.is_(None))
    )
    if before is not None:
        query = query.where(_F.run_id < before)
    return (await session.execute(query.order_by(_F.run_id.desc()).limit(limit))).all()


async def remove_feedback(session: AsyncSession, run_id: str, base_id: str, *, tenant_id: str) -> bool:
    """Delete feedback on an answer from a base; return whether there was any."""
    change = delete(chat_feedback).where(_F.run_id == run_id, _F.base_id == base_id, _F.tenant_id == tenant_id)
    return cast("CursorResult[Any]", await session.execute(change)).rowcount == 1


async def delete_without_runs(session: AsyncSession, flow_ids: Collection[str], at: int, *, tenant_id: str) -> None:
    """Delete conversations with flows that were last used before a time (`at`) and of which no run is left."""
    run = flow_runs.c
    has_runs = exists().where(run.flow_id == _C.flow_id, run.session_id == _C.id)
    expired = _C.flow_id.in_(flow_ids), _C.tenant_id == tenant_id, _C.used_at < at
    await session.execute(delete(flow_conversations).where(*expired, ~has_runs))


def _owned(tenant_id: str, user_id: str) -> tuple[ColumnElement[bool], ...]:
    return _C.tenant_id == tenant_id, _C.user_id == user_id
