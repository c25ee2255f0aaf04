"""What can go wrong with MCP servers. No message holds the value of a header or an environment variable.

NotFound
├── McpServerNotFound
└── McpToolNotFound      the server has no such tool, or has it no longer
Conflict
└── McpServerNameTaken
Invalid
├── AmbiguousMcpServer   several spaces have a server of that name
├── BadMcpServer         a name, address, command or header that no server has
└── McpToolsNotFound     the tools of the server were never looked up
Forbidden
├── McpServerOff         the server is switched off
└── ProgramsRefused      the operator does not allow programs
Unavailable
└── McpMissing           the package is not installed
UpstreamFailed
├── McpServerFailed      the server cannot be reached, or does not speak MCP
└── McpToolFailed        the tool itself reported an error
"""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable, UpstreamFailed
from headgate.graph.names import did_you_mean, listed


class McpServerNotFound(NotFound):
    """The caller sees no server of that name or id; a run, none in its flow's space."""

    code = "mcp_server_not_found"
    title = "MCP server not found"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        names = sorted(known)
        super().__init__(
            f"There is no MCP server '{name[:64]}'{did_you_mean(name, names) or '.'}",
            remedy=f"Registered: {listed(names)}. Add one with `headgate mcp-servers add`.",
        )


class McpToolNotFound(NotFound):
    """The server has no such tool."""

    code = "mcp_tool_not_found"
    title = "MCP tool not found"


class McpServerNameTaken(Conflict):
    """The space has a server of that name."""

    code = "mcp_server_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is an MCP server called '{name}' in this space already.", remedy="Choose another name."
        )


class AmbiguousMcpServer(Invalid):
    """Several spaces have a server of that name. Carries their ids as `servers`."""

    code = "mcp_server_ambiguous"
    title = "Several MCP servers have that name"

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(
            f"{len(ids)} MCP servers are called '{name}': {', '.join(ids)}.",
            remedy="Give the id of the one you mean.",
            servers=list[JsonValue](ids),
        )


class BadMcpServer(Invalid):
    """Something that no MCP server has."""

    code = "bad_mcp_server"
    title = "Not an MCP server"


class McpToolsNotFound(Invalid):
    """The server's tools were never looked up, or could not be."""

    code = "mcp_tools_not_found"
    title = "Tools not known"


class McpServerOff(Forbidden):
    """The server is switched off."""

    code = "mcp_server_off"
    title = "MCP server is off"


class ProgramsRefused(Forbidden):
    """The operator does not allow programs as MCP servers."""

    code = "mcp_programs_refused"
    title = "Programs are not allowed"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The MCP server '{name}' is a program of this machine, and those are not allowed.",
            remedy="Use one with a web address; or the operator sets HEADGATE_MCP__ALLOW_STDIO=true.",
        )


class McpMissing(Unavailable):
    """The package that speaks MCP is not installed."""

    code = "mcp_missing"
    title = "MCP is not installed"


class McpServerFailed(UpstreamFailed):
    """The server cannot be reached or does not speak MCP."""

    code = "mcp_server_failed"
    title = "MCP server failed"


class McpToolFailed(UpstreamFailed):
    """The tool reported an error. The words are the server's."""

    code = "mcp_tool_failed"
    title = "Tool failed"
