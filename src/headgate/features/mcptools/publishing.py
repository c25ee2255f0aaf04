"""Do a flow's steps name servers and tools that its space has? Asked when a version is frozen."""

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
class _Known:
    """A registered server: its tools by name, and whether each is enabled."""

    enabled: bool
    tools: Mapping[str, bool]


async def mcp_issues(
    session: AsyncSession, flow: Flow, catalog: Catalog, *, tenant_id: str, space_id: str
) -> list[Issue]:
    """What a flow asks of MCP servers that its space does not have. Nothing is asked for a flow without them."""
    nodes = mcp_nodes(flow.nodes)
    if not nodes:
        return []
    rows = await repository.list_servers(session, tenant_id=tenant_id, space_ids={space_id})
    tools: dict[str, dict[str, bool]] = {row.id: {} for row in rows}
    for tool in await repository.list_tools_of(session, list(tools), tenant_id=tenant_id):
        tools[tool.server_id][tool.name] = tool.enabled
    known = {row.name: _Known(row.enabled, tools[row.id]) for row in rows}
    found = [issue for node in nodes for issue in _node_issues(node, known)]
    return [*found, *_allowlist_issues(flow, catalog, known)]


def _node_issues(node: Node, known: Mapping[str, _Known]) -> Iterator[Issue]:
    server = mcp_server(node)
    if not server:
        return  # an empty field is told as such
    if server not in known:
        yield Issue(
            IssueCode.INVALID_VALUE,
            f"{named(node)} names the MCP server '{server}', which this space has not"
            f"{did_you_mean(server, known) or '.'}",
            f"Registered: {listed(sorted(known))}. Add one with `headgate mcp-servers add`.",
            node.id,
            "server",
        )
        return
    if not known[server].enabled:
        yield Issue(
            IssueCode.INVALID_VALUE,
            f"{named(node)} names the MCP server '{server}', which is switched off.",
            "Switch it on.",
            node.id,
            "server",
        )
    usable = [name for name, enabled in known[server].tools.items() if enabled]
    for tool in mcp_tools(node):
        if tool not in usable:
            off = (
                "is switched off." if tool in known[server].tools else f"it has not{did_you_mean(tool, usable) or '.'}"
            )
            yield Issue(
                IssueCode.INVALID_VALUE,
                f"{named(node)} names the tool '{tool[:128]}' of the MCP server '{server}', which {off}",
                f"It has: {listed(usable)}. Refresh the server to look again.",
                node.id,
                "tools",
            )


def _allowlist_issues(flow: Flow, catalog: Catalog, known: Mapping[str, _Known]) -> Iterator[Issue]:
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
