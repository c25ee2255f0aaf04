"""HTTP routes of saved views."""

from fastapi import APIRouter

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.saved_views import service
from headgate.features.accounts.saved_views.schemas import Place, SavedView, SavedViewIn, SavedViews
from headgate.foundation.api import ReadSession, WriteSession, problems

router = APIRouter(prefix="/saved-views", tags=["runs"])
_VIEW = [needs(Permission.RUNS_VIEW)]


@router.get("", summary="List saved views", responses=problems(403), dependencies=_VIEW)
async def list_(place: Place, session: ReadSession, caller: Caller) -> SavedViews:
    """List your views of a list, by name. The one without a name is what the page remembers."""
    return SavedViews(items=await service.list_views(session, caller, place))


@router.put("", summary="Save a view", responses=problems(403, 409), dependencies=_VIEW)
async def save(body: SavedViewIn, session: WriteSession, caller: Caller) -> SavedView:
    """Save filters and columns of a list for yourself under a name, which replaces the view of that name."""
    return await service.save_view(session, caller, body)


@router.delete("/{view_id}", status_code=204, summary="Delete a view", responses=problems(403, 404), dependencies=_VIEW)
async def delete(view_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete one of your views."""
    await service.delete_view(session, caller, view_id)
