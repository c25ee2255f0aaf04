"""HTTP routes of saved views."""

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.saved_views import service
from headgate.features.accounts.saved_views.schemas import Place, SavedView, SavedViewIn, SavedViews
from headgate.foundation.api import ReadSession, Routes, WriteSession

router = Routes(prefix="/saved-views", tags=["runs"])
_VIEW = [needs(Permission.RUNS_VIEW)]


@router.get("", "List saved views", _VIEW, problems=(403,))
async def list_(place: Place, session: ReadSession, caller: Caller) -> SavedViews:
    """List your views of a list, by name. The one without a name is what the page remembers."""
    return SavedViews(items=await service.list_views(session, caller, place))


@router.put("", "Save a view", _VIEW, problems=(403, 409))
async def save(body: SavedViewIn, session: WriteSession, caller: Caller) -> SavedView:
    """Save filters and columns of a list for yourself under a name, which replaces the view of that name."""
    return await service.save_view(session, caller, body)


@router.delete("/{view_id}", "Delete a view", _VIEW, problems=(403, 404))
async def delete(view_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete one of your views."""
    await service.delete_view(session, caller, view_id)
