"""Saved views: only their user sees and changes them."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.saved_views import repository
from headgate.features.accounts.saved_views.errors import SavedViewNotFound, TooManySavedViews
from headgate.features.accounts.saved_views.schemas import MOST_VIEWS, Place, SavedView, SavedViewIn, ViewSettings
from headgate.features.audit.recorder import record


async def list_views(session: AsyncSession, principal: Principal, place: Place) -> list[SavedView]:
    """Return the caller's views of a list, by name. Raises `PermissionMissing`."""
    principal.require_somewhere(Permission.RUNS_VIEW)
    rows = await repository.list_views(session, principal.user_id, place, tenant_id=principal.tenant_id)
    return [
        SavedView(id=row.id, place=place, name=row.name, settings=ViewSettings.model_validate(row.settings))
        for row in rows
    ]


async def get_view(session: AsyncSession, principal: Principal, place: Place, name: str) -> SavedView:
    """Return a view by name. Raises `SavedViewNotFound`."""
    view = next((view for view in await list_views(session, principal, place) if view.name == name), None)
    if view is None:
        raise SavedViewNotFound(name)
    return view


async def save_view(session: AsyncSession, principal: Principal, view_in: SavedViewIn) -> SavedView:
    """Save a view of the caller, or replace the one of that name. Raises `TooManySavedViews`, `PermissionMissing`."""
    views = await list_views(session, principal, view_in.place)
    if len(views) >= MOST_VIEWS and view_in.name not in {view.name for view in views}:
        raise TooManySavedViews(MOST_VIEWS)
    settings = view_in.settings.model_dump(mode="json")
    await repository.put_view(
        session, principal.user_id, view_in.place, view_in.name, settings, tenant_id=principal.tenant_id
    )
    view = await get_view(session, principal, view_in.place, view_in.name)
    payload = {"place": view.place, "name": view.name, "settings": settings}
    await record(session, principal, "saved_view.saved", id=view.id, name=view.name, after=settings, payload=payload)
    return view


async def delete_view(session: AsyncSession, principal: Principal, view_id: str) -> None:
    """Delete a view of the caller. Raises `SavedViewNotFound`, `PermissionMissing`."""
    principal.require_somewhere(Permission.RUNS_VIEW)
    if not await repository.delete_view(session, principal.user_id, view_id, tenant_id=principal.tenant_id):
        raise SavedViewNotFound(view_id)
    await record(session, principal, "saved_view.deleted", id=view_id)
