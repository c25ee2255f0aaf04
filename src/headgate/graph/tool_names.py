"""The names of a step's tools: what an agent calls them by, and what an allow-list holds."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from headgate.graph.model import Node
from headgate.graph.ports import CONFIGURATION_TYPES, PortType
from headgate.graph.template import Template
from headgate.graph.wiring import Wiring

MCP_TOOLS = "McpTools"
"""The component that brings the tools of an MCP server; on an allow-list they are called `server.tool`."""

FILE_TOOLS = "WorkspaceFiles"
"""The component that brings the tools of a workspace."""
READING_FILES = ("read_file", "glob_search", "grep_search")
WRITING_FILES = ("write_file", "edit_file")

GENERIC_METHODS = frozenset({"output", "process", "build_output", "run", "execute", "main", "handler", "build_result"})
"""Names of methods that tell an agent nothing (seed 000, ADR-MCP-044)."""


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


def tool_name(type_name: str, outputs: Sequence[str] = ()) -> str:
    """The name an agent calls a component by: `HTTPClient` is `http_client`.

    A component that somebody wrote for a flow is called by its method where that says what it does (`get_forecast`),
    and by its class where it is the only one and says nothing (`run`): seed 000, ADR-MCP-044.

    Args:
        type_name: The class name.
        outputs: The outputs of an own component that carry data, the main one first; none for a catalogue component,
            whose outputs are called after what they give (`text`).
    """
    if outputs and not (len(outputs) == 1 and outputs[0] in GENERIC_METHODS):
        return outputs[0]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type_name).lower()


def preferred_tool_name(node: Node, template: Template | None) -> str:
    """What an attached component is called where nothing beside it is called so."""
    if node.code is None or template is None:
        return tool_name(node.type)
    return tool_name(node.type, [out.name for out in template.outputs if out.type not in CONFIGURATION_TYPES])


def component_tool_names(attached: Iterable[tuple[Node, Template | None]]) -> dict[str, str]:
    """Node id to the name of its tool, for what hangs on one step: the preferred one where it is alone, else the id."""
    preferred = {node.id: preferred_tool_name(node, template) for node, template in attached}
    times = Counter(preferred.values())
    return {key: name if times[name] == 1 else key for key, name in preferred.items()}


def mcp_server(node: Node) -> str:
    """The server that an `McpTools` node names; empty when it names none."""
    found = node.params.get("server")
    return found.strip() if isinstance(found, str) else ""


def mcp_tools(node: Node) -> tuple[str, ...]:
    """The tools that an `McpTools` node takes, by their names on the server; none means all."""
    found = node.params.get("tools")
    return tuple(one.strip() for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def file_tools(node: Node) -> tuple[str, ...]:
    """The tools that a `WorkspaceFiles` node brings."""
    return READING_FILES if node.params.get("read_only") is True else (*READING_FILES, *WRITING_FILES)


def offer(wiring: Wiring, step: str) -> Offer:
    """The tools of a step and of everything attached to it."""
    names: dict[str, None] = {}
    servers: dict[str, None] = {}
    for node, name in _tool_nodes(wiring, step):
        if node.type == FILE_TOOLS:
            names |= dict.fromkeys(file_tools(node))
        elif node.type != MCP_TOOLS:
            names[name] = None
        elif mcp_tools(node):
            names |= dict.fromkeys(f"{mcp_server(node)}.{tool}" for tool in mcp_tools(node))
        elif mcp_server(node):
            servers[mcp_server(node)] = None
    return Offer(tuple(names), tuple(servers))


def mcp_nodes(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that bring tools of MCP servers."""
    return [node for node in nodes if node.type == MCP_TOOLS]


def _tool_nodes(wiring: Wiring, step: str) -> Iterator[tuple[Node, str]]:
    """Every node attached by a tool edge, each with its tool's name; what is attached in turn included."""
    seen = {step}
    waiting = [step]
    while waiting:
        wires = wiring.attachments(waiting.pop())
        names = component_tool_names(
            (wiring.nodes[one.edge.source], wiring.templates[one.edge.source]) for one in wires
        )
        for one in wires:
            if one.type is PortType.TOOL:
                yield wiring.nodes[one.edge.source], names[one.edge.source]
            if one.edge.source not in seen:
                seen.add(one.edge.source)
                waiting.append(one.edge.source)
