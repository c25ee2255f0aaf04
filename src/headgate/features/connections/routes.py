"""HTTP routes of connections."""

from typing import Annotated

from fastapi import Query, Request

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
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession, part
from headgate.foundation.settings import ServerSettings

router = Routes(prefix="/connections", tags=["connections"])
CALLBACK = "/settings/connections"
"""Page of the studio that completes authorizations."""
VIEW, OWN = needs(Permission.CONNECTIONS_VIEW), needs(Permission.CONNECTIONS_OWN)
"""Shared connections need `connections.manage`: the service knows which ones they are."""


Manager = Annotated[ConnectionManager, part("connections")]


@router.get("", "List connections", [VIEW], problems=(404,))
async def list_(session: ReadSession, caller: Caller, space_id: str | None = None) -> Page[SpaceConnectionOut]:
    """List the shared connections of a space, or of all that you can view, and your own ones; without secrets."""
    rows = await service.list_connections(session, caller, space_id=space_id)
    return Page(items=[SpaceConnectionOut.model_validate(row) for row in rows])


@router.get("/kinds", "List kinds of connections", [VIEW])
async def kinds(session: ReadSession) -> Page[KindOut]:
    """List the kinds with their fields; after those of Headgate those of packs."""
    return Page(
        items=[
            KindOut.model_validate({**_plain(offered.kind), "id": offered.id, "tested": offered.kind.probe != "none"})
            for offered in await offered_kinds(session)
        ]
    )


@router.post("", "Add a connection", [OWN], status_code=201, problems=(403, 404, 409))
async def create(
    body: SpaceConnectionIn, session: WriteSession, caller: Caller, manager: Manager
) -> SpaceConnectionOut:
    """Add a connection. Nothing is sent; test it, or authorize it where its kind uses OAuth."""
    row = await service.add_connection(session, caller, manager.connections.box, connection_in=body)
    return SpaceConnectionOut.model_validate(row)


@router.get("/{connection}", "Read a connection", [VIEW], problems=(404,))
async def get(connection: str, session: ReadSession, caller: Caller) -> SpaceConnectionOut:
    """A connection, by its id or name; of several with that name, your own in your own space."""
    return SpaceConnectionOut.model_validate(await service.get_connection(session, caller, connection))


@router.patch("/{connection}", "Change a connection", [OWN], problems=(403, 404, 409))
async def update(
    connection: str, body: SpaceConnectionPatch, session: WriteSession, caller: Caller, manager: Manager
) -> SpaceConnectionOut:
    """Change the name, fields or secrets of a connection. New hosts need its secrets again."""
    row = await service.update_connection(session, caller, manager.connections.box, connection, patch=body)
    return SpaceConnectionOut.model_validate(row)


@router.delete("/{connection}", "Delete a connection", [OWN], problems=(403, 404))
async def delete(connection: str, caller: Caller, manager: Manager) -> None:
    """Revoke the tokens of a connection at its provider, and delete it. Flows that name it fail when they run."""
    await manager.delete(caller, connection)


@router.post("/{connection}/test", "Test a connection", [OWN], problems=(403, 404))
async def test(connection: str, caller: Caller, manager: Manager) -> ConnectionTestOut:
    """Make the test call of the kind, and store the outcome with the connection."""
    return await manager.test(caller, connection)


@router.get(
    "/{connection}/tables", "List tables of a database", [needs(Permission.RUNS_TEST)], problems=(403, 404, 502)
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
    "/{connection}/files", "List a folder of a storage", [needs(Permission.FLOWS_EDIT)], problems=(403, 404, 502)
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


@router.post("/{connection}/authorize", "Authorize a connection", [OWN], problems=(403, 404, 502))
async def authorize(connection: str, request: Request, caller: Caller, manager: Manager) -> AuthorizationOut:
    """Begin an authorization: continue in the browser at the returned URL, or enter the returned code there."""
    row = await manager.find(caller, connection)
    return await manager.authorizations.start(caller, row, callback_url(request))


@router.post("/{connection}/authorize/poll", "Ask whether a device code was entered", [OWN], problems=(403, 404, 502))
async def poll(connection: str, body: AuthorizationPoll, caller: Caller, manager: Manager) -> AuthorizationState:
    """Ask the provider; call it again after the interval while the state is `pending`."""
    row = await manager.find(caller, connection)
    return await manager.authorizations.poll(caller, row, body.authorization)


@router.post("/authorizations", "Complete an authorization", [OWN], problems=(403, 404, 502))
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
