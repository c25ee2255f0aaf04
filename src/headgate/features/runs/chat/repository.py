"""Queries on conversations with flows. Tenant and user are always required."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.conversations.tables import flow_conversations
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionStepRow
from headgate.features.runs.tables import flow_runs
from headgate.foundation.ids import new_id

AnyRow = Row[*tuple[Any, ...]]
_C = flow_conversations.c
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


async def delete_without_runs(session: AsyncSession, flow_ids: Collection[str], at: int, *, tenant_id: str) -> None:
    """Delete conversations with flows that were last used before a time (`at`) and of which no run is left."""
    run = flow_runs.c
    has_runs = exists().where(run.flow_id == _C.flow_id, run.session_id == _C.id)
    expired = _C.flow_id.in_(flow_ids), _C.tenant_id == tenant_id, _C.used_at < at
    await session.execute(delete(flow_conversations).where(*expired, ~has_runs))


def _owned(tenant_id: str, user_id: str) -> tuple[ColumnElement[bool], ...]:
    return _C.tenant_id == tenant_id, _C.user_id == user_id
