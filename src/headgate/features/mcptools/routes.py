"""HTTP routes of MCP servers."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.connections.routes import callback_url
from headgate.features.connections.schemas import AuthorizationOut
from headgate.features.mcptools import service
from headgate.features.mcptools.authorizing import ServerAuthorizations
from headgate.features.mcptools.connector import McpConnector
from headgate.features.mcptools.schemas import (
    McpAuthorization,
    McpRefreshOut,
    McpServerIn,
    McpServerOut,
    McpServerPatch,
    McpTestOut,
    McpToolOut,
    McpToolPatch,
    McpToolsAccept,
)
from headgate.foundation.api import Page, ReadSession, WriteSession, part, problems

router = APIRouter(prefix="/mcp-servers", tags=["mcp servers"])
VIEW, MANAGE = needs(Permission.MCP_SERVERS_VIEW), needs(Permission.MCP_SERVERS_MANAGE)
OWN = needs(Permission.CONNECTIONS_OWN)


def _authorizations(request: Request) -> ServerAuthorizations:
    return ServerAuthorizations(request.app.state.connections, request.app.state.mcp.programs)


Authorizing = Annotated[ServerAuthorizations, Depends(_authorizations)]
Connector = Annotated[McpConnector, part("mcp")]


@router.get("", summary="List MCP servers", responses=problems(404), dependencies=[VIEW])
async def list_(session: ReadSession, caller: Caller, space_id: str | None = None) -> Page[McpServerOut]:
    """List the servers of a space, or of all that you can view, by name; without their secrets."""
    rows = await service.list_servers(session, caller, space_id=space_id)
    return Page(items=[McpServerOut.model_validate(row) for row in rows])


@router.post(
    "", status_code=201, summary="Register an MCP server", responses=problems(403, 404, 409), dependencies=[MANAGE]
)
async def create(body: McpServerIn, session: WriteSession, caller: Caller, connector: Connector) -> McpServerOut:
    """Register a server. Nothing is sent to it; refresh it to list its tools."""
    row = await service.create_server(session, caller, connector.box, connector.programs, server_in=body)
    return McpServerOut.model_validate(row)


@router.get("/{server}", summary="Read an MCP server", responses=problems(404), dependencies=[VIEW])
async def get(server: str, session: ReadSession, caller: Caller) -> McpServerOut:
    """A server, by its id or name; of several with that name, the one in your own space."""
    return McpServerOut.model_validate(await service.get_server(session, caller, server))


@router.patch("/{server}", summary="Change an MCP server", responses=problems(403, 404), dependencies=[MANAGE])
async def update(
    server: str, body: McpServerPatch, session: WriteSession, caller: Caller, connector: Connector
) -> McpServerOut:
    """Change a URL, a command with its hosts and folders, headers, or whether flows may use the server."""
    row = await service.update_server(session, caller, connector.box, connector.programs, server, patch=body)
    return McpServerOut.model_validate(row)


@router.delete(
    "/{server}", status_code=204, summary="Remove an MCP server", responses=problems(403, 404), dependencies=[MANAGE]
)
async def delete(server: str, session: WriteSession, caller: Caller) -> None:
    """Delete a server and its tools. Flows that name it fail when they run."""
    await service.delete_server(session, caller, server)


@router.post(
    "/{server}/refresh", summary="Refresh a server's tools", responses=problems(403, 404, 502), dependencies=[MANAGE]
)
async def refresh(server: str, caller: Caller, connector: Connector) -> McpRefreshOut:
    """List the server's tools and store them. An error is stored with the server."""
    discovery, changes = await connector.refresh(caller, server)
    async with connector.database.reading() as session:
        rows = await service.list_tools(session, caller, server, permission=Permission.MCP_SERVERS_MANAGE)
    return McpRefreshOut(
        tools=[McpToolOut.model_validate(row) for row in rows],
        added=list(changes.added),
        changed=list(changes.changed),
        removed=list(changes.removed),
        left_out=list(discovery.left_out),
        protocol=discovery.protocol,
    )


@router.post(
    "/{server}/test",
    summary="Test the connection to a server",
    responses=problems(403, 404, 502),
    dependencies=[MANAGE],
)
async def test(server: str, caller: Caller, connector: Connector) -> McpTestOut:
    """Connect to the server and count its tools; nothing is stored."""
    return await connector.test(caller, server)


@router.post(
    "/{server}/authorize",
    summary="Authorize a server by OAuth 2.1",
    responses=problems(403, 404, 409, 502),
    dependencies=[OWN],
)
async def authorize(
    server: str, body: McpAuthorization, request: Request, caller: Caller, authorizations: Authorizing
) -> AuthorizationOut:
    """Find the server's authorization server, register Headgate there, and begin an authorization in the browser.

    An OAuth 2 connection with the name of the server holds the tokens; they are refreshed automatically.
    """
    return await authorizations.start(caller, server, body, callback_url(request))


@router.get("/{server}/tools", summary="List a server's tools", responses=problems(404), dependencies=[VIEW])
async def tools(server: str, session: ReadSession, caller: Caller) -> Page[McpToolOut]:
    """The last listed tools of the server."""
    rows = await service.list_tools(session, caller, server)
    return Page(items=[McpToolOut.model_validate(row) for row in rows])


@router.post(
    "/{server}/tools/accept", summary="Accept changed tools", responses=problems(403, 404, 409), dependencies=[MANAGE]
)
async def accept(server: str, body: McpToolsAccept, session: WriteSession, caller: Caller) -> Page[str]:
    """Accept tools whose description or schema changed, so that models get them. Returns their names."""
    return Page(items=list(await service.accept_tools(session, caller, server, tools=body.tools)))


@router.patch(
    "/{server}/tools/{name}", summary="Enable or disable a tool", responses=problems(403, 404), dependencies=[MANAGE]
)
async def set_tool(server: str, name: str, body: McpToolPatch, session: WriteSession, caller: Caller) -> McpToolOut:
    """Enable or disable the tool for flows."""
    row = await service.set_tool_enabled(session, caller, server, name, enabled=body.enabled)
    return McpToolOut.model_validate(row)
