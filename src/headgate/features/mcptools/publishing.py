"""Do a flow's steps name MCP servers and tools that its space has?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.mcptools import repository
from headgate.graph.check_graph import named
from headgate.graph.check_tools import unknown_tool
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.names import did_you_mean, listed
from headgate.graph.template import Catalog
from headgate.graph.tool_names import Offer, mcp_nodes, mcp_server, mcp_tools, offer
from headgate.graph.wiring import wire


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A registered server: its tools by name, and whether each is enabled."""

    enabled: bool
    tools: Mapping[str, bool]


async def known_servers(session: AsyncSession, *, tenant_id: str, space_id: str) -> Mapping[str, KnownServer]:
    """The servers of a space with their tools as they were listed last, by name. Two queries."""
    rows = await repository.list_servers(session, tenant_id=tenant_id, space_ids={space_id})
    tools: dict[str, dict[str, bool]] = {row.id: {} for row in rows}
    for tool in await repository.list_tools_of(session, list(tools), tenant_id=tenant_id) if rows else ():
        tools[tool.server_id][tool.name] = tool.enabled
    return {row.name: KnownServer(row.enabled, tools[row.id]) for row in rows}


def mcp_issues(flow: Flow, catalog: Catalog, known: Mapping[str, KnownServer]) -> list[Issue]:
    """What a flow asks of MCP servers that its space does not have."""
    nodes = mcp_nodes(flow.nodes)
    if not nodes:
        return []
    found = [issue for node in nodes for issue in _node_issues(node, known)]
    return [*found, *_allowlist_issues(flow, catalog, known)]


def _node_issues(node: Node, known: Mapping[str, KnownServer]) -> Iterator[Issue]:
    server = mcp_server(node)
    if not server:
        return  # an empty field is told as such
    if server not in known:
        yield Issue(
            IssueCode.MCP_SERVER,
            f"{named(node)} uses the MCP server '{server}', which is not registered in this space"
            f"{did_you_mean(server, known) or '.'}",
            f"Registered: {listed(sorted(known))}. Add it in Settings, or with `headgate mcp-servers add`.",
            node.id,
            "server",
            about=server,
        )
        return
    if not known[server].enabled:
        yield Issue(
            IssueCode.MCP_SERVER,
            f"{named(node)} uses the MCP server '{server}', which is switched off.",
            "Switch it on in Settings.",
            node.id,
            "server",
            about=server,
        )
    usable = [name for name, enabled in known[server].tools.items() if enabled]
    for tool in mcp_tools(node):
        if tool not in usable:
            hint = did_you_mean(tool, usable) or "."
            off = "which is switched off." if tool in known[server].tools else f"which is not there{hint}"
            yield Issue(
                IssueCode.MCP_SERVER,
                f"{named(node)} uses the tool '{tool[:128]}' of the MCP server '{server}', {off}",
                f"It has: {listed(usable)}. Refresh the server to read its list again.",
                node.id,
                "tools",
                about=server,
            )


def _allowlist_issues(flow: Flow, catalog: Catalog, known: Mapping[str, KnownServer]) -> Iterator[Issue]:
    """Names on allow-lists that only the server's own list can tell to be wrong."""
    wiring = wire(flow, catalog)
    for step in wiring.steps:
        policy = wiring.nodes[step].policy
        if policy.tool_policy != "restricted":
            continue
        offered = offer(wiring, step)
        every = [
            f"{server}.{tool}"
            for server in offered.servers
            for tool, enabled in (known[server].tools if server in known else {}).items()
            if enabled
        ]
        whole = Offer((*offered.names, *every), ())
        for name in policy.tool_allowlist:
            if offered.may_hold(name) and not whole.may_hold(name) and name.partition(".")[0] in known:
                yield unknown_tool(wiring.nodes[step], name, whole)
