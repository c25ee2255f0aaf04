"""Feedback of users and visitors on answers, which editors of a knowledge base make questions of."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space
from headgate.features.audit.recorder import record, record_of
from headgate.features.knowledge.evaluation.repository import names_of
from headgate.features.knowledge.evaluation.schemas import ExpectedOut
from headgate.features.knowledge.service import get_base, visible_to
from headgate.features.runs.chat import repository
from headgate.features.runs.chat.errors import MessageNotFound
from headgate.features.runs.chat.messages import read_messages
from headgate.features.runs.chat.repository import AnyRow
from headgate.features.runs.chat.schemas import FeedbackIn, FeedbackOut, RatedAnswer
from headgate.features.runs.chat.service import conversation_with_flow
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.material import read_material
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database, moment
from headgate.foundation.ids import is_id


@dataclass(frozen=True, slots=True)
class InFlow:
    """A run of a flow in a space."""

    run_id: str
    flow_id: str
    space_id: str


async def put_feedback(
    session: AsyncSession, principal: Principal, conversation_id: str, run_id: str, feedback_in: FeedbackIn
) -> FeedbackOut:
    """Store what the owner of a conversation thinks of an answer, in place of what they thought before.

    Raises `ConversationNotFound`, `MessageNotFound`, `FlowNotFound`, `PermissionMissing`.
    """
    row, flow = await conversation_with_flow(session, principal, conversation_id, lock=True)
    owner = {"tenant_id": principal.tenant_id, "user_id": principal.user_id}
    if not is_id(run_id) or not await repository.has_message(session, run_id, row.id, row.flow_id, **owner):
        raise MessageNotFound(run_id)
    return await _store(session, principal, row.id, InFlow(run_id, flow.id, flow.space_id), feedback_in)


async def put_visitor_feedback(
    session: AsyncSession, visitor: Principal, conversation_id: str | None, answer: InFlow, feedback_in: FeedbackIn
) -> None:
    """Store what a visitor thinks of an answer to them, in place of what they thought before.

    `conversation_id` is the session of the visit; None when it has none. Raises `MessageNotFound`.
    """
    tenant_id, run_id = visitor.tenant_id, answer.run_id
    if not await repository.has_message(
        session, run_id, conversation_id, answer.flow_id, tenant_id=tenant_id, user_id=None
    ):
        raise MessageNotFound(run_id)
    await _store(session, visitor, conversation_id or answer.run_id, answer, feedback_in)


async def _store(
    session: AsyncSession, principal: Principal, conversation_id: str, answer: InFlow, feedback_in: FeedbackIn
) -> FeedbackOut:
    material = await read_material(session, answer.run_id, tenant_id=principal.tenant_id)
    base_id, documents = next(iter(material.sources.items()), ("", {}))
    values = {
        "run_id": answer.run_id,
        "flow_id": answer.flow_id,
        "user_id": principal.user_id or None,
        **feedback_in.model_dump(),
        "base_id": base_id,
        "document_ids": list(documents),
        "created_at": (at := clock()),
    }
    await repository.put_feedback(session, values, tenant_id=principal.tenant_id)
    about = {"flow_id": answer.flow_id, "run_id": answer.run_id, "helpful": feedback_in.helpful}
    await record(
        session,
        principal,
        "conversation.rated",
        id=conversation_id,
        space_id=answer.space_id,
        after=about,
        payload=about,
    )
    return FeedbackOut(run_id=answer.run_id, **feedback_in.model_dump(), created_at=moment(at))


async def list_feedback(session: AsyncSession, principal: Principal, conversation_id: str) -> list[FeedbackOut]:
    """Return the caller's feedback on the messages of a conversation. Raises like `put_feedback`."""
    row, _ = await conversation_with_flow(session, principal, conversation_id)
    rows = await repository.list_feedback(
        session, row.id, row.flow_id, tenant_id=principal.tenant_id, user_id=principal.user_id
    )
    return [_out(feedback) for feedback in rows]


async def list_rated_answers(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    base_id: str,
    *,
    limit: int,
    before: str | None,
) -> tuple[Sequence[RatedAnswer], str | None]:
    """Return a page of the feedback on answers from a base, newest first, and the next cursor, as its editor.

    Only answers of flows of the space of the base, whose runs the caller may view. Raises `BaseNotFound`,
    `PermissionMissing`.
    """
    async with database.reading() as session:
        base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
        await require_space(session, principal, base.space_id, Permission.RUNS_VIEW)
        rows = await repository.list_feedback_on_base(
            session, base.id, base.space_id, tenant_id=base.tenant_id, limit=limit + 1, before=before
        )
        visible = await visible_to(session, principal, base)
        ids = {id_ for row in rows for id_ in row.document_ids}
        names = await names_of(session, base.id, ids, tenant_id=base.tenant_id, visible=visible)
    shown = rows[:limit]
    runs = {run.id: run for run in await read_messages(engine, principal, [row.run_id for row in shown])}
    rated = [
        RatedAnswer(
            **_out(row).model_dump(),
            flow_id=row.flow_id,
            by_visitor=row.user_id is None,
            question=run.input.text,
            answer=run.text or "",
            documents=[ExpectedOut(id=id_, name=names[id_]) for id_ in row.document_ids if id_ in names],
        )
        for row in shown
        if (run := runs.get(row.run_id)) is not None
    ]
    return rated, shown[-1].run_id if len(rows) > limit else None


async def delete_feedback(session: AsyncSession, principal: Principal, base_id: str, run_id: str) -> None:
    """Delete feedback on an answer from a base, as its editor. Raises `BaseNotFound`, `MessageNotFound`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    if not is_id(run_id) or not await repository.remove_feedback(session, run_id, base.id, tenant_id=base.tenant_id):
        raise MessageNotFound(run_id)
    await record_of(session, principal, "knowledge_base.feedback_deleted", base, payload={"run_id": run_id})


def _out(row: AnyRow) -> FeedbackOut:
    return FeedbackOut(
        run_id=row.run_id, helpful=row.helpful, correction=row.correction, created_at=moment(row.created_at)
    )
