"""Messages of a conversation: sending one, which is a run, and reading them at once."""

from collections.abc import Sequence

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.chat.schemas import MessageIn
from headgate.features.runs.chat.service import continue_conversation, message_runs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.permitted import require_of_run
from headgate.features.runs.schemas import RunOut, RunStart
from headgate.features.runs.service import plan_of, start_run
from headgate.features.runs.views.runs import run_view
from headgate.foundation.database import Database


async def read_messages(engine: ExecutionBackend, principal: Principal, run_ids: Sequence[str]) -> list[RunOut]:
    """Return runs that the caller may view, in this order; without those that were deleted meanwhile.

    Raises `PermissionMissing`.
    """
    runs = await engine.store.read_all(run_ids, principal.tenant_id)
    for run in runs:
        await require_of_run(engine.services.spaces, principal, run, Permission.RUNS_VIEW)
    return [run_view(run, run.steps, await plan_of(engine, run)) for run in runs]


async def send_message(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    conversation_id: str,
    message: MessageIn,
    *,
    once: StartKey | None = None,
) -> str:
    """Start a run of the published version with a message; return its id.

    Raises `ConversationNotFound`, and like `start_run`.
    """
    async with database.writing() as session:
        conversation = await continue_conversation(session, principal, conversation_id, message.text)
    start = RunStart(text=message.text, file_ids=message.file_ids, session_id=conversation.id, version="published")
    return (await start_run(database, engine, principal, conversation.flow_id, start, once=once)).run_id


async def list_messages(
    database: Database,
    engine: ExecutionBackend,
    principal: Principal,
    conversation_id: str,
    *,
    limit: int,
    before: str | None = None,
) -> tuple[Sequence[RunOut], str | None]:
    """Return a page of the runs of a conversation of the caller, newest first, and the next cursor.

    No connection is held while the store reads the runs.

    Raises `ConversationNotFound`, `FlowNotFound`, `PermissionMissing`.
    """
    async with database.reading() as session:
        run_ids = await message_runs(session, principal, conversation_id, limit=limit + 1, before=before)
    shown = run_ids[:limit]
    return await read_messages(engine, principal, shown), shown[-1] if len(run_ids) > limit else None
