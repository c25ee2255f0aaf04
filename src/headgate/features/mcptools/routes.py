"""HTTP routes of MCP servers."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.mcptools import service
from headgate.features.mcptools.connector import McpConnector
from headgate.features.mcptools.schemas import (
    McpRefreshOut,
    McpServerIn,
    McpServerOut,
    McpServerPatch,
    McpTestOut,
    McpToolOut,
    McpToolPatch,
)
from headgate.foundation.api import Page, ReadSession, WriteSession, problems

router = APIRouter(prefix="/mcp-servers", tags=["mcp servers"])
VIEW, MANAGE = needs(Permission.MCP_SERVERS_VIEW), needs(Permission.MCP_SERVERS_MANAGE)


def _connector(request: Request) -> McpConnector:
    found: McpConnector = request.app.state.mcp
    return found


Connector = Annotated[McpConnector, Depends(_connector)]


@router.get("", summary="List MCP servers", responses=problems(404), dependencies=[VIEW])
async def list_(session: ReadSession, caller: Caller, space_id: str | None = None) -> Page[McpServerOut]:
    """The servers of a space, or of all that you see, by name; their secrets are never given out."""
    rows = await service.list_servers(session, caller, space_id=space_id)
    return Page(items=[McpServerOut.model_validate(row) for row in rows])


@router.post(
    "", status_code=201, summary="Register an MCP server", responses=problems(403, 404, 409), dependencies=[MANAGE]
)
async def create(body: McpServerIn, session: WriteSession, caller: Caller, connector: Connector) -> McpServerOut:
    """Keep where a server is. Nothing is sent to it; refresh it to find its tools."""
    row = await service.create_server(session, caller, connector.box, connector.settings, wanted=body)
    return McpServerOut.model_validate(row)


@router.get("/{server}", summary="Read an MCP server", responses=problems(404), dependencies=[VIEW])
async def get(server: str, session: ReadSession, caller: Caller) -> McpServerOut:
    """One server, by its id or name; of several with that name, the one in your own space."""
    return McpServerOut.model_validate(await service.get_server(session, caller, server))


@router.patch("/{server}", summary="Change an MCP server", responses=problems(403, 404), dependencies=[MANAGE])
async def update(
    server: str, body: McpServerPatch, session: WriteSession, caller: Caller, connector: Connector
) -> McpServerOut:
    """Change an address, a command, headers, or whether flows may use it."""
    row = await service.update_server(session, caller, connector.box, connector.settings, server, patch=body)
    return McpServerOut.model_validate(row)


@router.delete(
    "/{server}", status_code=204, summary="Remove an MCP server", responses=problems(403, 404), dependencies=[MANAGE]
)
async def delete(server: str, session: WriteSession, caller: Caller) -> Response:
    """Forget a server and its tools. Flows that name it are told when they run."""
    await service.delete_server(session, caller, server)
    return Response(status_code=204)


@router.post(
    "/{server}/refresh", summary="Find a server's tools", responses=problems(403, 404, 502), dependencies=[MANAGE]
)
async def refresh(server: str, caller: Caller, connector: Connector) -> McpRefreshOut:
    """Ask the server what it offers and keep it. Why it failed stays with the server."""
    found, changes = await connector.refresh(caller, server)
    async with connector.database.reading() as session:
        rows = await service.list_tools(session, caller, server, permission=Permission.MCP_SERVERS_MANAGE)
    return McpRefreshOut(
        tools=[McpToolOut.model_validate(row) for row in rows],
        added=list(changes.added),
        changed=list(changes.changed),
        removed=list(changes.removed),
        left_out=list(found.left_out),
        protocol=found.protocol,
    )


@router.post(
    "/{server}/test", summary="Try the connection to a server", responses=problems(403, 404, 502), dependencies=[MANAGE]
)
async def test(server: str, caller: Caller, connector: Connector) -> McpTestOut:
    """Reach the server and count its tools; nothing is kept."""
    return await connector.test(caller, server)


@router.get("/{server}/tools", summary="List a server's tools", responses=problems(404), dependencies=[VIEW])
async def tools(server: str, session: ReadSession, caller: Caller) -> Page[McpToolOut]:
    """What the server offered when it was last asked."""
    rows = await service.list_tools(session, caller, server)
    return Page(items=[McpToolOut.model_validate(row) for row in rows])


@router.patch(
    "/{server}/tools/{name}", summary="Switch a tool on or off", responses=problems(403, 404), dependencies=[MANAGE]
)
async def set_tool(server: str, name: str, body: McpToolPatch, session: WriteSession, caller: Caller) -> McpToolOut:
    """Whether flows may use the tool."""
    row = await service.set_tool_enabled(session, caller, server, name, enabled=body.enabled)
    return McpToolOut.model_validate(row)
