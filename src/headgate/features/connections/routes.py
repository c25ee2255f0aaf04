"""HTTP routes of connections."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.connections import service
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.manage import ConnectionManager
from headgate.features.connections.schemas import (
    ConnectionIn,
    ConnectionOut,
    ConnectionPatch,
    ConnectionTestOut,
    KindOut,
)
from headgate.foundation.api import Page, ReadSession, WriteSession, problems

router = APIRouter(prefix="/connections", tags=["connections"])
VIEW, OWN = needs(Permission.CONNECTIONS_VIEW), needs(Permission.CONNECTIONS_OWN)
"""Shared connections need `connections.manage`: the service knows which ones they are."""


def _manager(request: Request) -> ConnectionManager:
    manager: ConnectionManager = request.app.state.connections
    return manager


Manager = Annotated[ConnectionManager, Depends(_manager)]


@router.get("", summary="List connections", responses=problems(404), dependencies=[VIEW])
async def list_(session: ReadSession, caller: Caller, space_id: str | None = None) -> Page[ConnectionOut]:
    """List the shared connections of a space, or of all that you can view, and your own ones; without secrets."""
    rows = await service.list_connections(session, caller, space_id=space_id)
    return Page(items=[ConnectionOut.model_validate(row) for row in rows])


@router.get("/kinds", summary="List kinds of connections", dependencies=[VIEW])
async def kinds() -> Page[KindOut]:
    """List the kinds with their fields."""
    return Page(
        items=[KindOut.model_validate({**_plain(kind), "tested": kind.probe != "none"}) for kind in KINDS.values()]
    )


@router.post("", status_code=201, summary="Add a connection", responses=problems(403, 404, 409), dependencies=[OWN])
async def create(body: ConnectionIn, session: WriteSession, caller: Caller, manager: Manager) -> ConnectionOut:
    """Add a connection. Nothing is sent; test it, or authorize it where its kind uses OAuth."""
    row = await service.create_connection(session, caller, manager.connections.box, connection_in=body)
    return ConnectionOut.model_validate(row)


@router.get("/{connection}", summary="Read a connection", responses=problems(404), dependencies=[VIEW])
async def get(connection: str, session: ReadSession, caller: Caller) -> ConnectionOut:
    """A connection, by its id or name; of several with that name, your own in your own space."""
    return ConnectionOut.model_validate(await service.get_connection(session, caller, connection))


@router.patch("/{connection}", summary="Change a connection", responses=problems(403, 404, 409), dependencies=[OWN])
async def update(
    connection: str, body: ConnectionPatch, session: WriteSession, caller: Caller, manager: Manager
) -> ConnectionOut:
    """Change the name, fields or secrets of a connection. New hosts need its secrets again."""
    row = await service.update_connection(session, caller, manager.connections.box, connection, patch=body)
    return ConnectionOut.model_validate(row)


@router.delete(
    "/{connection}", status_code=204, summary="Delete a connection", responses=problems(403, 404), dependencies=[OWN]
)
async def delete(connection: str, caller: Caller, manager: Manager) -> Response:
    """Revoke the tokens of a connection at its provider, and delete it. Flows that name it fail when they run."""
    await manager.delete(caller, connection)
    return Response(status_code=204)


@router.post("/{connection}/test", summary="Test a connection", responses=problems(403, 404), dependencies=[OWN])
async def test(connection: str, caller: Caller, manager: Manager) -> ConnectionTestOut:
    """Make the test call of the kind, and store the outcome with the connection."""
    return await manager.test(caller, connection)


def _plain(kind: object) -> dict[str, object]:
    return {
        name: getattr(kind, name)
        for name in ("id", "label", "description", "category", "fields", "adds", "grant", "ownership", "keywords")
    }
