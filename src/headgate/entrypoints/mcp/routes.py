"""The route `/mcp`: who may come in is decided here like everywhere; then the MCP server answers."""

from fastapi import APIRouter, Request, Response

from headgate.entrypoints.http.errors import BadRequest
from headgate.entrypoints.http.wire import App, Receive, Scope, Send
from headgate.entrypoints.mcp.door import McpDoor
from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.foundation.api import problems

router = APIRouter(tags=["mcp"])


class Handed(Response):
    """An answer that another ASGI application gives."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it answer."""
        await self._app(scope, receive, send)


@router.post(
    "/mcp",
    summary="Speak MCP",
    response_class=Response,
    responses=problems(503)
    | {
        200: {"content": {"application/json": {}, "text/event-stream": {}}, "description": "A JSON-RPC answer."},
        202: {"description": "A notification was taken."},
        400: {"content": {"application/json": {}}, "description": "Not a JSON-RPC message of a known revision."},
        404: {"content": {"application/json": {}}, "description": "The method is not there."},
        406: {"description": "The client takes neither of the two media types."},
    },
    dependencies=[needs(Permission.CATALOG_VIEW)],
)
async def mcp(request: Request, caller: Caller, again: CallerAgain) -> Response:
    """The Model Context Protocol, streamable HTTP, revisions 2025-11-25 and 2026-07-28; stateless.

    Every call acts as the caller. What each tool needs is in the list of tools: others are not shown.
    """
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        raise BadRequest("The body is not sent as JSON.", remedy="Send it with Content-Type: application/json.")
    door: McpDoor = request.app.state.mcp_door
    request.state.principal = caller
    request.state.again = again
    return Handed(await door.app())
