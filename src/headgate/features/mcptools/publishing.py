"""Checks that the MCP servers and tools of a flow's steps exist in its space."""

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
from headgate.graph.tool_names import MCP_CALL, Offer, mcp_nodes, mcp_server, mcp_tools, offer
from headgate.graph.wiring import wire


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A registered server: its tools by name, and whether each is enabled."""

    enabled: bool
    tools: Mapping[str, bool]
    changed: frozenset[str] = frozenset()
    """Tools whose description has changed since a user accepted it."""


async def known_servers(session: AsyncSession, *, tenant_id: str, space_id: str) -> Mapping[str, KnownServer]:
    """Return the servers of a space with their last listed tools, by name. Two queries."""
    rows = await repository.list_servers(session, tenant_id=tenant_id, space_ids={space_id})
    tools: dict[str, dict[str, bool]] = {row.id: {} for row in rows}
    changed: dict[str, set[str]] = {row.id: set() for row in rows}
    for tool in await repository.list_tools_of(session, list(tools), tenant_id=tenant_id) if rows else ():
        tools[tool.server_id][tool.name] = tool.enabled
        if tool.changed:
            changed[tool.server_id].add(tool.name)
    return {row.name: KnownServer(row.enabled, tools[row.id], frozenset(changed[row.id])) for row in rows}


def mcp_issues(flow: Flow, catalog: Catalog, servers: Mapping[str, KnownServer]) -> list[Issue]:
    """Return issues for MCP servers and tools that are missing in the flow's space."""
    nodes = mcp_nodes(flow.nodes)
    if not nodes:
        return []
    issues = [issue for node in nodes for issue in _node_issues(node, servers)]
    return [*issues, *_allowlist_issues(flow, catalog, servers)]


def _node_issues(node: Node, servers: Mapping[str, KnownServer]) -> Iterator[Issue]:
    server = mcp_server(node)
    if not server:
        return  # an empty field is reported as such
    if server not in servers:
        yield Issue(
            IssueCode.MCP_SERVER,
            f"{named(node)} uses the MCP server '{server}', which is not registered in this space"
            f"{did_you_mean(server, servers) or '.'}",
            f"Registered: {listed(sorted(servers))}. Add the server in Settings, or with `headgate mcp-servers add`.",
            node.id,
            "server",
            about=server,
        )
        return
    if not servers[server].enabled:
        yield Issue(
            IssueCode.MCP_SERVER,
            f"{named(node)} uses the MCP server '{server}', which is disabled.",
            "Enable it in Settings.",
            node.id,
            "server",
            about=server,
        )
    yield from _changed_issues(node, server, servers[server])
    usable = [name for name, enabled in servers[server].tools.items() if enabled]
    for tool in mcp_tools(node):
        if tool not in usable:
            hint = did_you_mean(tool, usable) or "."
            off = "which is disabled." if tool in servers[server].tools else f"which does not exist{hint}"
            yield Issue(
                IssueCode.MCP_SERVER,
                f"{named(node)} uses the tool '{tool[:128]}' of the MCP server '{server}', {off}",
                f"Its tools are: {listed(usable)}. Refresh the server to update the list.",
                node.id,
                "tool_name" if node.type == MCP_CALL else "tools",
                about=server,
            )


def _changed_issues(node: Node, server: str, known: KnownServer) -> Iterator[Issue]:
    chosen = mcp_tools(node)
    for tool in sorted(known.changed):
        if known.tools[tool] and (not chosen or tool in chosen):
            yield Issue(
                IssueCode.MCP_SERVER,
                f"{named(node)} uses the tool '{tool}' of the MCP server '{server}', whose description has changed "
                "since it was accepted.",
                f"View and accept it in Settings, or with `headgate mcp-servers accept {server}`.",
                node.id,
                "tool_name" if node.type == MCP_CALL else "tools",
                about=server,
            )


def _allowlist_issues(flow: Flow, catalog: Catalog, servers: Mapping[str, KnownServer]) -> Iterator[Issue]:
    """Yield names on allow-lists that can only be checked against the server's own list."""
    wiring = wire(flow, catalog)
    for step in wiring.steps:
        policy = wiring.nodes[step].policy
        if policy.tool_policy != "restricted":
            continue
        offered = offer(wiring, step)
        every = [
            f"{server}.{tool}"
            for server in offered.servers
            for tool, enabled in (servers[server].tools if server in servers else {}).items()
            if enabled
        ]
        complete = Offer((*offered.names, *every), ())
        for name in policy.tool_allowlist:
            if offered.may_hold(name) and not complete.may_hold(name) and name.partition(".")[0] in servers:
                yield unknown_tool(wiring.nodes[step], name, complete)
