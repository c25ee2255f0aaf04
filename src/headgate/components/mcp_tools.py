"""Tools of an MCP server, for an agent."""

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
        help="Names of the tools to give, as the server calls them; empty gives every enabled one.",
        port=False,
        interpolate=False,
    )

    @output(name="tools", label="Tools", help="The server's tools. Nothing is sent until one is called.")
    async def give_tools(self) -> list[Tool]:
        """The tools, in the order of the server's list. Raises `ComponentError` naming one that is not there."""
        found = await self.ctx.mcp_tools(self.server)
        names = [tool.remote_name for tool in found]
        for name in self.tools:
            if name not in names:
                raise ComponentError(
                    f"McpTools: the server '{self.server}' has no enabled tool '{name[:128]}'"
                    f"{did_you_mean(name, names) or '.'}",
                    remedy=f"It has: {listed(names)}. `headgate mcp-servers refresh {self.server}` looks again.",
                    field="tools",
                )
        return [tool for tool in found if not self.tools or tool.remote_name in self.tools]
