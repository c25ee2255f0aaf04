"""The names of a step's tools: what an agent calls them by, and what an allow-list holds."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headgate.graph.model import Node
from headgate.graph.ports import PortType
from headgate.graph.wiring import Wiring

MCP_TOOLS = "McpTools"
"""The component that brings the tools of an MCP server; on an allow-list they are called `server.tool`."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools that hang on a step, directly or through others."""

    names: tuple[str, ...]
    """Names that the flow itself tells."""
    servers: tuple[str, ...]
    """MCP servers of which every enabled tool hangs on the step; which those are, the flow cannot tell."""

    def may_hold(self, name: str) -> bool:
        """Whether the step has a tool of that name, as far as the flow tells."""
        return name in self.names or any(name.startswith(f"{server}.") for server in self.servers)


def tool_name(type_name: str) -> str:
    """The name an agent calls a component by: `HTTPClient` is `http_client`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type_name).lower()


def component_tool_name(node: Node, types: Counter[str]) -> str:
    """The name of an attached component: by its type where it is alone of that type, else by its id.

    Args:
        node: The attached node.
        types: How many nodes of each type hang on the same step.
    """
    return tool_name(node.type) if types[node.type] == 1 else node.id


def mcp_server(node: Node) -> str:
    """The server that an `McpTools` node names; empty when it names none."""
    found = node.params.get("server")
    return found.strip() if isinstance(found, str) else ""


def mcp_tools(node: Node) -> tuple[str, ...]:
    """The tools that an `McpTools` node takes, by their names on the server; none means all."""
    found = node.params.get("tools")
    return tuple(one.strip() for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def offer(wiring: Wiring, step: str) -> Offer:
    """The tools of a step and of everything attached to it."""
    names: dict[str, None] = {}
    servers: dict[str, None] = {}
    for node, types in _tool_nodes(wiring, step):
        if node.type != MCP_TOOLS:
            names[component_tool_name(node, types)] = None
        elif mcp_tools(node):
            names |= dict.fromkeys(f"{mcp_server(node)}.{tool}" for tool in mcp_tools(node))
        elif mcp_server(node):
            servers[mcp_server(node)] = None
    return Offer(tuple(names), tuple(servers))


def mcp_nodes(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that bring tools of MCP servers."""
    return [node for node in nodes if node.type == MCP_TOOLS]


def _tool_nodes(wiring: Wiring, step: str) -> Iterator[tuple[Node, Counter[str]]]:
    """Every node attached by a tool edge, each with the types beside it; what is attached in turn included."""
    seen = {step}
    waiting = [step]
    while waiting:
        wires = wiring.attachments(waiting.pop())
        types = Counter(wiring.nodes[one.edge.source].type for one in wires)
        for one in wires:
            if one.type is PortType.TOOL:
                yield wiring.nodes[one.edge.source], types
            if one.edge.source not in seen:
                seen.add(one.edge.source)
                waiting.append(one.edge.source)
