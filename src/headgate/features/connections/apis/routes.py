"""HTTP routes of descriptions of APIs."""

from typing import Annotated

from fastapi import Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.connections.apis import service
from headgate.features.connections.apis.reader import ApiReader
from headgate.features.connections.apis.schemas import (
    OPERATION_LENGTH,
    ApiChangesOut,
    ApiDocumentIn,
    ApiOut,
    ApiSuggestionOut,
    OperationDetailOut,
    OperationOut,
    OperationsAccept,
)
from headgate.features.connections.errors import ApiNotDescribed, OperationNotFound
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession, part

router = Routes(prefix="/connections", tags=["connections"])
VIEW, OWN = needs(Permission.CONNECTIONS_VIEW), needs(Permission.CONNECTIONS_OWN)
OPERATION = "Method and path of the operation, or its id."


Reader = Annotated[ApiReader, part("connections.apis")]


@router.post("/suggestions", "Read what a description needs", [OWN], problems=(403, 502))
async def suggest(body: ApiDocumentIn, caller: Caller, reader: Reader) -> ApiSuggestionOut:
    """Read a description of an API, and return the kind and the fields of the connection that it needs."""
    return await reader.suggest(caller, body)


@router.put("/{connection}/api", "Describe the API", [OWN], problems=(403, 404, 502))
async def put(connection: str, body: ApiDocumentIn, caller: Caller, reader: Reader) -> ApiChangesOut:
    """Read a description of the connection's API: its operations become available to steps.

    A description replaces an earlier one. Agents get an operation whose description changed after it was accepted.
    """
    return await reader.describe(caller, connection, body)


@router.get("/{connection}/api", "Read the description of the API", [VIEW], problems=(404,))
async def get(connection: str, session: ReadSession, caller: Caller) -> ApiOut:
    """The description of the connection's API, without its operations."""
    return await service.describe(session, caller, connection)


@router.delete("/{connection}/api", "Remove the description of the API", [OWN], problems=(403, 404))
async def delete(connection: str, session: WriteSession, caller: Caller) -> None:
    """Remove the description. Steps that name its operations fail when they run."""
    await service.remove_description(session, caller, connection)


@router.get("/{connection}/operations", "Search operations", [VIEW], problems=(404,))
async def operations(
    connection: str,
    session: ReadSession,
    caller: Caller,
    q: Annotated[str, Query(max_length=200, description="Words that the operation must have.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[int, Query(ge=0, le=2**31 - 1, description="`next_cursor` of the previous page.")] = 0,
) -> Page[OperationOut]:
    """Operations of the connection's API with all words of `q`, in the order of the description; none without one."""
    try:
        rows = await service.search_operations(session, caller, connection, text=q, after=cursor - 1, limit=limit + 1)
    except ApiNotDescribed:
        return Page(items=[])
    more = str(rows[limit].place) if len(rows) > limit else None
    return Page(items=[service.operation_out(row) for row in rows[:limit]], next_cursor=more)


@router.get("/{connection}/operation", "Read an operation", [VIEW], problems=(404,))
async def operation(
    connection: str,
    session: ReadSession,
    caller: Caller,
    name: Annotated[str, Query(min_length=1, max_length=OPERATION_LENGTH, description=OPERATION)],
    optional: Annotated[  # noqa: FBT002 - a query parameter
        bool, Query(description="Whether an operation that does not exist is `null`, not a 404.")
    ] = False,
) -> OperationDetailOut | None:
    """An operation with the schemas of its arguments and its response."""
    try:
        return service.operation_detail(await service.get_operation(session, caller, connection, name))
    except (ApiNotDescribed, OperationNotFound):
        if optional:
            return None
        raise


@router.post("/{connection}/operations/accept", "Accept changed operations", [OWN], problems=(403, 404, 409))
async def accept(connection: str, body: OperationsAccept, session: WriteSession, caller: Caller) -> Page[str]:
    """Accept operations whose description changed, so that agents get them. Returns their keys."""
    keys = await service.accept_operations(session, caller, connection, keys=body.operations, sha256=body.sha256)
    return Page(items=keys)
