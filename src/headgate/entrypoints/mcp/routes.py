"""The routes `/mcp` and `/mcp/flows`: authenticated like any other; then the MCP server responds."""

from fastapi import APIRouter, Request, Response

from headgate.entrypoints.http.errors import BadRequest
from headgate.entrypoints.http.wire import App, Receive, Scope, Send
from headgate.entrypoints.mcp.entry import McpEntry
from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Again, Principal
from headgate.foundation.api import problems

router = APIRouter(tags=["mcp"])


RESPONSES = problems(503) | {
    200: {"content": {"application/json": {}, "text/event-stream": {}}, "description": "A JSON-RPC answer."},
    202: {"description": "A notification was accepted."},
    400: {"content": {"application/json": {}}, "description": "Not a JSON-RPC message of a known revision."},
    404: {"content": {"application/json": {}}, "description": "Method not found."},
    406: {"description": "The client accepts neither of the two media types."},
}


class Handed(Response):
    """A response from another ASGI application."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request."""
        await self._app(scope, receive, send)


@router.post(
    "/mcp",
    summary="Speak MCP",
    response_class=Response,
    responses=RESPONSES,
    dependencies=[needs(Permission.CATALOG_VIEW)],
)
async def mcp(request: Request, caller: Caller, again: CallerAgain) -> Response:
    """The Model Context Protocol, streamable HTTP, revisions 2025-11-25 and 2026-07-28; stateless.

    Every call acts as the caller. What each tool needs is in the list of tools: others are not shown.
    """
    return await _handed(request, caller, again)


@router.post(
    "/mcp/flows",
    summary="Speak MCP with published flows as tools",
    response_class=Response,
    responses=RESPONSES,
    dependencies=[needs(Permission.RUNS_START)],
)
async def mcp_flows(request: Request, caller: Caller, again: CallerAgain) -> Response:
    """As `/mcp`, with other tools: each published flow that the caller may run, its form as the arguments."""
    caller.require_somewhere(Permission.RUNS_START)
    return await _handed(request, caller, again)


async def _handed(request: Request, caller: Principal, again: Again) -> Response:
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        raise BadRequest(
            "The request body has the wrong content type.", remedy="Send it with Content-Type: application/json."
        )
    entry: McpEntry = request.app.state.mcp_entry
    request.state.principal = caller
    request.state.again = again
    return Handed(await entry.app())
