"""HTTP routes of shared assistants."""

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.assistants import service
from headgate.features.assistants.schemas import AssistantChange, AssistantIn, AssistantOut
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, WriteSession, page_of, parse_cursor

router = Routes(prefix="/assistants", tags=["assistants"])
VIEW, EDIT = needs(Permission.ASSISTANTS_VIEW), needs(Permission.ASSISTANTS_EDIT)


@router.get("", "List shared assistants", [VIEW], problems=(404,))
async def list_(
    session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None, space_id: str | None = None
) -> Page[AssistantOut]:
    """List shared assistants of one space, or of all that you can view, oldest first."""
    rows = await service.list_assistants(
        session, caller, space_id=space_id, limit=limit + 1, after=parse_cursor(cursor)
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=[AssistantOut.model_validate(row) for row in page], next_cursor=following)


@router.post("", "Create a shared assistant", [EDIT], status_code=201, problems=(403, 404, 409))
async def create(body: AssistantIn, session: WriteSession, caller: Caller) -> AssistantOut:
    """Create a model with instructions that steps link by name: `assistant: NAME`."""
    return AssistantOut.model_validate(await service.create_assistant(session, caller, body))


@router.get("/{assistant_id}", "Read a shared assistant", [VIEW], problems=(404,))
async def read(assistant_id: str, session: ReadSession, caller: Caller) -> AssistantOut:
    """A shared assistant."""
    return AssistantOut.model_validate(await service.get_assistant(session, caller, assistant_id))


@router.patch("/{assistant_id}", "Change a shared assistant", [EDIT], problems=(403, 404, 409))
async def change(assistant_id: str, body: AssistantChange, session: WriteSession, caller: Caller) -> AssistantOut:
    """Change an assistant. Drafts that link it use the change in their next run; published versions stay unchanged."""
    return AssistantOut.model_validate(await service.change_assistant(session, caller, assistant_id, body))


@router.delete("/{assistant_id}", "Delete a shared assistant", [EDIT], problems=(403, 404))
async def delete(assistant_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete an assistant. Published versions that link it keep running unchanged."""
    await service.delete_assistant(session, caller, assistant_id)
