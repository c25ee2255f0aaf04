"""Creating, changing and deleting shared assistants; their frozen values in versions."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.assistants import repository
from headgate.features.assistants.errors import AssistantNameTaken, AssistantNotFound
from headgate.features.assistants.schemas import AssistantChange, AssistantIn, AssistantOut
from headgate.features.assistants.tables import AssistantRow
from headgate.features.audit.recorder import record_of
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id
from headgate.graph.links import SharedAssistant


async def create_assistant(session: AsyncSession, principal: Principal, assistant_in: AssistantIn) -> AssistantRow:
    """Create an assistant of a space. Raises `SpaceNotFound`, `PermissionMissing`, `AssistantNameTaken`."""
    space = assistant_in.space_id or principal.space_id
    await require_space(session, principal, space, Permission.ASSISTANTS_EDIT)
    row = AssistantRow(
        id=new_id(),
        tenant_id=principal.tenant_id,
        space_id=space,
        created_at=now(),
        updated_at=now(),
        **assistant_in.model_dump(exclude={"space_id"}),
    )
    try:
        await repository.add_assistant(session, row)
    except IntegrityError as error:
        raise AssistantNameTaken(assistant_in.name) from error
    await record_of(session, principal, "assistant.created", row, after=_described(row))
    return row


async def get_assistant(
    session: AsyncSession,
    principal: Principal,
    assistant_id: str,
    *,
    permission: Permission = Permission.ASSISTANTS_VIEW,
) -> AssistantRow:
    """Return an assistant for which the caller has the permission. Raises `AssistantNotFound`, `PermissionMissing`."""
    assistant = None
    if is_id(assistant_id):
        assistant = await repository.find_assistant(session, assistant_id, tenant_id=principal.tenant_id)
    if assistant is None:
        raise AssistantNotFound(assistant_id)
    principal.require_in(assistant.space_id, permission, AssistantNotFound(assistant_id))
    return assistant


async def list_assistants(
    session: AsyncSession,
    principal: Principal,
    *,
    space_id: str | None = None,
    limit: int = 50,
    after: str | None = None,
) -> Sequence[AssistantRow]:
    """Return assistants that the caller can view, of one space or of all, oldest first. Raises `SpaceNotFound`."""
    space_ids = await spaces_shown(session, principal, space_id, Permission.ASSISTANTS_VIEW)
    return await repository.list_assistants(
        session, tenant_id=principal.tenant_id, space_ids=space_ids, limit=limit, after=after
    )


async def change_assistant(
    session: AsyncSession, principal: Principal, assistant_id: str, change: AssistantChange
) -> AssistantRow:
    """Change an assistant. Frozen versions stay unchanged. Raises `AssistantNotFound`, `NameTaken`."""
    row = await get_assistant(session, principal, assistant_id, permission=Permission.ASSISTANTS_EDIT)
    before = _described(row)
    for name, value in change.model_dump(exclude_unset=True).items():
        if value is not None or name == "temperature":
            setattr(row, name, value)
    row.updated_at = now()
    try:
        await session.flush()
    except IntegrityError as error:
        raise AssistantNameTaken(change.name or "") from error
    await record_of(session, principal, "assistant.changed", row, before=before, after=_described(row))
    return row


async def delete_assistant(session: AsyncSession, principal: Principal, assistant_id: str) -> None:
    """Delete an assistant. Published flows that link it keep running; their drafts report it as missing."""
    row = await get_assistant(session, principal, assistant_id, permission=Permission.ASSISTANTS_EDIT)
    await record_of(session, principal, "assistant.deleted", row, before=_described(row))
    await repository.delete_assistant(session, row)


async def shared_by_name(
    session: AsyncSession, names: Collection[str], *, tenant_id: str, space_id: str
) -> Mapping[str, SharedAssistant]:
    """Return the values for steps that link these names, from assistants of the flow's own space only."""
    rows = await repository.find_by_names(session, names, tenant_id=tenant_id, space_id=space_id) if names else ()
    return {row.name: _shared(row) for row in rows}


async def shared_in(session: AsyncSession, *, tenant_id: str, space_id: str) -> Mapping[str, SharedAssistant]:
    """Return every assistant that flows of a space may link, by name."""
    rows = await repository.find_by_names(session, None, tenant_id=tenant_id, space_id=space_id)
    return {row.name: _shared(row) for row in rows}


def _shared(row: AssistantRow) -> SharedAssistant:
    return SharedAssistant(instructions=row.instructions, model=row.model, temperature=row.temperature)


def _described(row: AssistantRow) -> Mapping[str, object]:
    return AssistantOut.model_validate(row).model_dump(mode="json", exclude={"id", "created_at", "updated_at"})
