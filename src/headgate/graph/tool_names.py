"""Names of a step's tools, as agents call them and as allow-lists contain them."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from headgate.graph.model import Node
from headgate.graph.ports import CONFIGURATION_TYPES, PortType
from headgate.graph.template import Template
from headgate.graph.wiring import Wiring

MCP_TOOLS = "McpTools"
MCP_CALL = "McpCall"
"""The component for tools of an MCP server; on an allow-list they are named `server.tool`."""

API_TOOLS = "ApiTools"
"""The component for operations of an API; on an allow-list they have the names that agents call them by."""
LONGEST_NAME = 64
"""Characters of a tool name that every model provider accepts."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")

FILE_TOOLS = "WorkspaceFiles"
"""The component for tools of a workspace."""
READING_FILES = ("read_file", "glob_search", "grep_search")
WRITING_FILES = ("write_file", "edit_file")

GENERIC_METHODS = frozenset({"output", "process", "build_output", "run", "execute", "main", "handler", "build_result"})
"""Method names that are meaningless to an agent (seed 000, ADR-MCP-044)."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools attached to a step, including nested ones."""

    names: tuple[str, ...]
    """Names that the flow itself contains."""
    servers: tuple[str, ...]
    """MCP servers whose enabled tools are all attached to the step; the flow does not contain their names."""

    def may_hold(self, name: str) -> bool:
        """Return whether the step has a tool with that name, as far as the flow shows."""
        return name in self.names or any(name.startswith(f"{server}.") for server in self.servers)


def tool_name(type_name: str, outputs: Sequence[str] = ()) -> str:
    """Return the name an agent calls a component by: `HTTPClient` is `http_client`.

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
    """Return the preferred name of an attached component, when it is unique."""
    if node.code is None or template is None:
        return tool_name(node.type)
    return tool_name(node.type, [out.name for out in template.outputs if out.type not in CONFIGURATION_TYPES])


def component_tool_names(attached: Iterable[tuple[Node, Template | None]]) -> dict[str, str]:
    """Return node id to the name of its tool, for one step: the preferred one when it is unique, else the id."""
    preferred = {node.id: preferred_tool_name(node, template) for node, template in attached}
    times = Counter(preferred.values())
    return {key: name if times[name] == 1 else key for key, name in preferred.items()}


def mcp_server(node: Node) -> str:
    """Return the server of an `McpTools` or `McpCall` node; empty when it names none."""
    server = node.params.get("server")
    return server.strip() if isinstance(server, str) else ""


def mcp_tools(node: Node) -> tuple[str, ...]:
    """Return the tools of an `McpTools` or `McpCall` node, by their names on the server; none means all."""
    tools = [node.params.get("tool_name")] if node.type == MCP_CALL else node.params.get("tools")
    return tuple(name.strip() for name in tools if isinstance(name, str)) if isinstance(tools, list) else ()


def operation_tool_name(operation: str) -> str:
    """Return the name an agent calls an operation by: `GET /users/{id}` is `get_users_id`.

    A name that is too long ends with a digest of the operation.
    """
    method, _, path = operation.strip().partition(" ")
    named = f"{method.lower()}{path}" if path else method
    name = _UNSAFE.sub("_", named).strip("_") or "operation"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(operation.encode()).hexdigest()[:8]}"


def api_operations(node: Node) -> tuple[str, ...]:
    """Return the operations of an `ApiTools` node."""
    operations = node.params.get("operations")
    names = operations if isinstance(operations, list) else []
    return tuple(name.strip() for name in names if isinstance(name, str) and name.strip())


def file_tools(node: Node) -> tuple[str, ...]:
    """Return the tools of a `WorkspaceFiles` node."""
    return READING_FILES if node.params.get("read_only") is True else (*READING_FILES, *WRITING_FILES)


def offer(wiring: Wiring, step: str) -> Offer:
    """Return the tools of a step and of its attachments."""
    names: dict[str, None] = {}
    servers: dict[str, None] = {}
    for node, name in _tool_nodes(wiring, step):
        if node.type == FILE_TOOLS:
            names |= dict.fromkeys(file_tools(node))
        elif node.type == API_TOOLS:
            names |= dict.fromkeys(operation_tool_name(operation) for operation in api_operations(node))
        elif node.type != MCP_TOOLS:
            names[name] = None
        elif mcp_tools(node):
            names |= dict.fromkeys(f"{mcp_server(node)}.{tool}" for tool in mcp_tools(node))
        elif mcp_server(node):
            servers[mcp_server(node)] = None
    return Offer(tuple(names), tuple(servers))


def mcp_nodes(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that use tools of MCP servers."""
    return [node for node in nodes if node.type in {MCP_TOOLS, MCP_CALL}]


def _tool_nodes(wiring: Wiring, step: str) -> Iterator[tuple[Node, str]]:
    """Yield every node attached by a tool edge, with its tool's name, including nested ones."""
    visited = {step}
    waiting = [step]
    while waiting:
        wires = wiring.attachments(waiting.pop())
        names = component_tool_names(
            (wiring.nodes[wire.edge.source], wiring.templates[wire.edge.source]) for wire in wires
        )
        for wire in wires:
            if wire.type is PortType.TOOL:
                yield wiring.nodes[wire.edge.source], names[wire.edge.source]
            if wire.edge.source not in visited:
                visited.add(wire.edge.source)
                waiting.append(wire.edge.source)
