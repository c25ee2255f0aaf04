"""HTTP route of the MCP registry."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from headgate.features.access.caller import needs
from headgate.features.access.permissions import Permission
from headgate.features.mcptools.registry import LONGEST_SEARCH, McpRegistry
from headgate.features.mcptools.schemas import RegistryOut
from headgate.foundation.api import problems

router = APIRouter(prefix="/mcp-registry", tags=["mcp servers"])


@router.get(
    "",
    summary="Search the MCP registry",
    responses=problems(403, 502),
    dependencies=[needs(Permission.MCP_SERVERS_MANAGE)],
)
async def search(request: Request, search: Annotated[str, Query(max_length=LONGEST_SEARCH)] = "") -> RegistryOut:
    """Search the registry that the operator configured, by name; at most 50 servers. Nothing is registered."""
    registry: McpRegistry = request.app.state.mcp_registry
    return await registry.search(search)
