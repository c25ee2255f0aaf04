"""HTTP routes of connections."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.connections import service
from headgate.features.connections.manage import ConnectionManager
from headgate.features.connections.presets import offered_kinds
from headgate.features.connections.schemas import (
    AuthorizationAnswer,
    AuthorizationOut,
    AuthorizationPoll,
    AuthorizationState,
    ConnectionTestOut,
    DatabaseTableOut,
    KindOut,
    SpaceConnectionIn,
    SpaceConnectionOut,
    SpaceConnectionPatch,
    StoredFileOut,
)
from headgate.foundation.api import Page, ReadSession, WriteSession, part, problems
from headgate.foundation.settings import ServerSettings

router = APIRouter(prefix="/connections", tags=["connections"])
CALLBACK = "/settings/connections"
"""Page of the studio that completes authorizations."""
VIEW, OWN = needs(Permission.CONNECTIONS_VIEW), needs(Permission.CONNECTIONS_OWN)
"""Shared connections need `connections.manage`: the service knows which ones they are."""


Manager = Annotated[ConnectionManager, part("connections")]


@router.get("", summary="List connections", responses=problems(404), dependencies=[VIEW])
async def list_(session: ReadSession, caller: Caller, space_id: str | None = None) -> Page[SpaceConnectionOut]:
    """List the shared connections of a space, or of all that you can view, and your own ones; without secrets."""
    rows = await service.list_connections(session, caller, space_id=space_id)
    return Page(items=[SpaceConnectionOut.model_validate(row) for row in rows])


@router.get("/kinds", summary="List kinds of connections", dependencies=[VIEW])
async def kinds(session: ReadSession) -> Page[KindOut]:
    """List the kinds with their fields; after those of Headgate those of packs."""
    return Page(
        items=[
            KindOut.model_validate({**_plain(offered.kind), "id": offered.id, "tested": offered.kind.probe != "none"})
            for offered in await offered_kinds(session)
        ]
    )


@router.post("", status_code=201, summary="Add a connection", responses=problems(403, 404, 409), dependencies=[OWN])
async def create(
    body: SpaceConnectionIn, session: WriteSession, caller: Caller, manager: Manager
) -> SpaceConnectionOut:
    """Add a connection. Nothing is sent; test it, or authorize it where its kind uses OAuth."""
    row = await service.add_connection(session, caller, manager.connections.box, connection_in=body)
    return SpaceConnectionOut.model_validate(row)


@router.get("/{connection}", summary="Read a connection", responses=problems(404), dependencies=[VIEW])
async def get(connection: str, session: ReadSession, caller: Caller) -> SpaceConnectionOut:
    """A connection, by its id or name; of several with that name, your own in your own space."""
    return SpaceConnectionOut.model_validate(await service.get_connection(session, caller, connection))


@router.patch("/{connection}", summary="Change a connection", responses=problems(403, 404, 409), dependencies=[OWN])
async def update(
    connection: str, body: SpaceConnectionPatch, session: WriteSession, caller: Caller, manager: Manager
) -> SpaceConnectionOut:
    """Change the name, fields or secrets of a connection. New hosts need its secrets again."""
    row = await service.update_connection(session, caller, manager.connections.box, connection, patch=body)
    return SpaceConnectionOut.model_validate(row)


@router.delete(
    "/{connection}", status_code=204, summary="Delete a connection", responses=problems(403, 404), dependencies=[OWN]
)
async def delete(connection: str, caller: Caller, manager: Manager) -> None:
    """Revoke the tokens of a connection at its provider, and delete it. Flows that name it fail when they run."""
    await manager.delete(caller, connection)


@router.post("/{connection}/test", summary="Test a connection", responses=problems(403, 404), dependencies=[OWN])
async def test(connection: str, caller: Caller, manager: Manager) -> ConnectionTestOut:
    """Make the test call of the kind, and store the outcome with the connection."""
    return await manager.test(caller, connection)


@router.get(
    "/{connection}/tables",
    summary="List tables of a database",
    responses=problems(403, 404, 422, 502),
    dependencies=[needs(Permission.RUNS_TEST)],
)
async def tables(
    connection: str,
    caller: Caller,
    manager: Manager,
    q: Annotated[str, Query(max_length=100, description="Text in the name of the table or of a column.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str, Query(max_length=300, description="`next_cursor` of the previous page.")] = "",
) -> Page[DatabaseTableOut]:
    """Tables and views of the connection's database with their columns, for users who may run drafts."""
    return await manager.databases.tables(caller, connection, text=q, after=cursor, limit=limit)


@router.get(
    "/{connection}/files",
    summary="List a folder of a storage",
    responses=problems(403, 404, 422, 502),
    dependencies=[needs(Permission.FLOWS_EDIT)],
)
async def files(
    connection: str,
    caller: Caller,
    manager: Manager,
    folder: Annotated[str, Query(max_length=1_024, description="Empty: the folder of the connection.")] = "",
    search: Annotated[str, Query(max_length=200, description="Only names that contain it.")] = "",
    cursor: Annotated[str, Query(max_length=1_100)] = "",
) -> Page[StoredFileOut]:
    """List what is in a folder, folders first, 100 entries a page. Only connections to storages have files."""
    return await manager.browse(caller, connection, folder, search=search, cursor=cursor)


@router.post(
    "/{connection}/authorize",
    summary="Authorize a connection",
    responses=problems(403, 404, 502),
    dependencies=[OWN],
)
async def authorize(connection: str, request: Request, caller: Caller, manager: Manager) -> AuthorizationOut:
    """Begin an authorization: continue in the browser at the returned URL, or enter the returned code there."""
    row = await manager.find(caller, connection)
    return await manager.authorizations.start(caller, row, callback_url(request))


@router.post(
    "/{connection}/authorize/poll",
    summary="Ask whether a device code was entered",
    responses=problems(403, 404, 502),
    dependencies=[OWN],
)
async def poll(connection: str, body: AuthorizationPoll, caller: Caller, manager: Manager) -> AuthorizationState:
    """Ask the provider; call it again after the interval while the state is `pending`."""
    row = await manager.find(caller, connection)
    return await manager.authorizations.poll(caller, row, body.authorization)


@router.post(
    "/authorizations",
    summary="Complete an authorization",
    responses=problems(403, 404, 502),
    dependencies=[OWN],
)
async def finish(body: AuthorizationAnswer, caller: Caller, manager: Manager) -> SpaceConnectionOut:
    """Redeem the code that the provider sent to the browser. Only the user who began the authorization can, once."""
    row = await manager.authorizations.finish(
        caller, state=body.state, code=body.code, error=body.error, issuer=body.iss
    )
    return SpaceConnectionOut.model_validate(await manager.find(caller, row.id))


def callback_url(request: Request) -> str:
    """Return the page that providers send browsers to; it is registered with them."""
    server: ServerSettings = request.app.state.settings.server
    return f"{server.public_url or f'{request.url.scheme}://{request.url.netloc}'}{CALLBACK}"


def _plain(kind: object) -> dict[str, object]:
    return {
        name: getattr(kind, name)
        for name in ("id", "label", "description", "category", "fields", "adds", "grant", "ownership", "keywords")
    }
