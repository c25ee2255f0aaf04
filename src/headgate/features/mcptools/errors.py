"""Errors of MCP servers. No message contains the value of a header or an environment variable.

NotFound
├── McpServerNotFound
└── McpToolNotFound      the server has no such tool, or no longer has it
Conflict
├── McpServerNameTaken
└── McpToolsReplaced     the tools changed again after the user had seen them
Invalid
├── AmbiguousMcpServer   several spaces have a server with that name
├── BadMcpServer         an invalid name, URL, command or header
├── McpNotAuthorizable   the server or its provider lacks what OAuth 2.1 needs
└── McpToolsNotFound     the tools of the server were never listed
Forbidden
├── McpSamplingRefused   a request of the server for a model was refused
├── McpServerOff         the server is disabled
├── McpToolChanged       its description has changed, and no user has accepted it
└── ProgramsRefused      the operator does not allow programs
Unavailable
└── McpMissing           the package is not installed
UpstreamFailed
├── McpRegistryFailed    the registry cannot be reached, or answers something else
├── McpServerFailed      the server cannot be reached, or does not support MCP
└── McpToolFailed        the tool itself reported an error
"""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable, UpstreamFailed
from headgate.graph.names import did_you_mean, listed


class McpServerNotFound(NotFound):
    """The caller can view no server with that name or id; for a run, its space has none."""

    code = "mcp_server_not_found"
    title = "MCP server not found"

    def __init__(self, name: str, candidates: Iterable[str] = ()) -> None:
        names = sorted(candidates)
        super().__init__(
            f"There is no MCP server '{name[:64]}'{did_you_mean(name, names) or '.'}",
            remedy=f"Registered: {listed(names)}. Add one with `headgate mcp-servers add`.",
        )


class McpToolNotFound(NotFound):
    """The server has no such tool."""

    code = "mcp_tool_not_found"
    title = "MCP tool not found"


class McpServerNameTaken(Conflict):
    """The space already has a server with that name."""

    code = "mcp_server_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"An MCP server named '{name}' already exists in this space.", remedy="Choose another name.")


class AmbiguousMcpServer(Invalid):
    """Several spaces have a server with that name. Carries their ids as `servers`."""

    code = "mcp_server_ambiguous"
    title = "Several MCP servers have that name"
    remedy = "Give the id of one."

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(f"{len(ids)} MCP servers are named '{name}': {', '.join(ids)}.", servers=list[JsonValue](ids))


class BadMcpServer(Invalid):
    """The definition of the MCP server is invalid."""

    code = "bad_mcp_server"
    title = "Not an MCP server"


class McpToolsNotFound(Invalid):
    """The server's tools were never listed, or could not be."""

    code = "mcp_tools_not_found"
    title = "Tools not listed"


class McpServerOff(Forbidden):
    """The server is disabled."""

    code = "mcp_server_off"
    title = "MCP server is disabled"


class McpSamplingRefused(Forbidden):
    """A request of a server for a model was refused; see `sampling`."""

    code = "mcp_sampling_refused"
    title = "Request for a model refused"


class McpToolChanged(Forbidden):
    """The description of a tool has changed, and no user has accepted it."""

    code = "mcp_tool_changed"
    title = "Tool changed"

    def __init__(self, server: str, tool: str) -> None:
        super().__init__(
            f"The MCP server '{server}' describes the tool '{tool[:128]}' otherwise than when it was accepted.",
            remedy=(
                f"Refresh the server, view the difference and accept it: in Settings, or with "
                f"`headgate mcp-servers refresh {server}` and `headgate mcp-servers accept {server}`."
            ),
        )


class McpToolsReplaced(Conflict):
    """The tools changed again after the user had seen them."""

    code = "mcp_tools_replaced"
    title = "Tools changed again"


class McpNotAuthorizable(Invalid):
    """The server or its provider lacks what an authorization by OAuth 2.1 needs."""

    code = "mcp_not_authorizable"
    title = "Cannot be authorized"


class ProgramsRefused(Forbidden):
    """The operator does not allow programs as MCP servers."""

    code = "mcp_programs_refused"
    title = "Programs are not allowed"
    remedy = "Use a server with a URL, or ask the operator to set HEADGATE_MCP__ALLOW_STDIO=true."

    def __init__(self, name: str) -> None:
        super().__init__(f"The MCP server '{name}' is a program on this machine, and programs are not allowed.")


class McpMissing(Unavailable):
    """The package for MCP is not installed."""

    code = "mcp_missing"
    title = "MCP is not installed"


class McpServerFailed(UpstreamFailed):
    """The server cannot be reached or does not support MCP."""

    code = "mcp_server_failed"
    title = "MCP server failed"


class McpRegistryFailed(UpstreamFailed):
    """The registry cannot be reached, or does not answer with servers."""

    code = "mcp_registry_failed"
    title = "MCP registry failed"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, remedy="Try again later, or add the server by its URL.")


class McpToolFailed(UpstreamFailed):
    """The tool reported an error. The text is the server's."""

    code = "mcp_tool_failed"
    title = "Tool failed"
