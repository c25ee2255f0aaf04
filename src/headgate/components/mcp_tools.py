"""The component for tools of an MCP server."""

from headgate.graph.names import did_you_mean, listed
from headgate.sdk import Component, ComponentError, Tool, field, output


class McpTools(Component):
    """Gives an agent or AI step the tools of an MCP server that this space has registered.

    Connect its `tools` output to the agent's. What a server says about its tools is the server's own word.
    """

    label = "MCP tools"
    category = "ai"
    effect = True
    outside = True
    icon = "plug"
    keywords = (
        "mcp", "model context protocol", "server", "connector", "integration", "remote tools", "plugin", "extension",
        "tool server",
    )  # fmt: skip

    server: str = field(
        label="Server",
        help="Name of a registered server; `headgate mcp-servers list` shows them.",
        port=False,
        interpolate=False,
        max_length=64,
    )
    tools: list[str] = field(
        default_factory=list,
        label="Tools",
        help="Names of the tools to offer, as on the server; empty offers every enabled one.",
        port=False,
        interpolate=False,
    )

    @output(name="tools", label="Tools", help="The server's tools. No request is sent until one is called.")
    async def give_tools(self) -> list[Tool]:
        """Return the tools, in the order of the server's list. Raises `ComponentError` for a missing one."""
        tools = await self.ctx.mcp_tools(self.server)
        names = [tool.remote_name for tool in tools]
        for name in self.tools:
            if name not in names:
                raise ComponentError(
                    f"McpTools: the server '{self.server}' has no enabled tool '{name[:128]}'"
                    f"{did_you_mean(name, names) or '.'}",
                    remedy=(
                        f"Its tools are: {listed(names)}. `headgate mcp-servers refresh {self.server}` "
                        "updates the list."
                    ),
                    field="tools",
                )
        chosen = [tool for tool in tools if not self.tools or tool.remote_name in self.tools]
        changed = [tool.remote_name for tool in chosen if tool.changed]
        if changed:
            raise ComponentError(
                f"McpTools: the server '{self.server}' has changed its description of {listed(changed)} since a user "
                "accepted it.",
                remedy=(
                    f"View and accept the difference in Settings, or with `headgate mcp-servers accept {self.server}`; "
                    "or disable the tool."
                ),
                field="tools",
            )
        return chosen
