"""The component that calls one tool of an MCP server."""

from typing import Any

from pydantic import JsonValue, PrivateAttr

from headgate.components.data.json_text import parse_json
from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Data, field, output
from headgate.sdk.tools import call_tool


class McpCall(Component):
    """Calls a tool of an MCP server, or reads a resource or a prompt of it, without a model."""

    label = "MCP call"
    category = "web"
    effect = True
    outside = True
    icon = "plug"
    keywords = (
        "mcp", "model context protocol", "server", "tool", "call", "resource", "prompt", "connector", "integration",
    )  # fmt: skip

    server: str = field(
        label="Server",
        help="Name of a registered server; `headgate mcp-servers list` shows them.",
        port=False,
        interpolate=False,
        max_length=64,
    )
    tool_name: str = field(
        label="Tool name",
        help="Name of an enabled tool, as on the server; read_resource and get_prompt read its resources and prompts.",
        port=False,
        interpolate=False,
        max_length=128,
    )
    arguments: str | Data = field(
        default=None,
        label="Arguments",
        help="Arguments by name, as the server describes them.",
        kind=FieldKind.JSON,
        types=(PortType.DATA, PortType.TEXT),
        main=True,
    )
    _answer: JsonValue = PrivateAttr(default=None)
    _called: bool = PrivateAttr(default=False)

    @output(help="The result: data when the server gives it, otherwise its text.")
    async def data(self) -> Data:
        """Return the result."""
        if not self._called:
            self._answer, self._called = await self._call(), True
        return self._answer

    async def _call(self) -> JsonValue:
        arguments: Any = self.arguments
        if isinstance(arguments, str):
            arguments = parse_json(arguments, subject="McpCall: the arguments") if arguments.strip() else {}
        if arguments is not None and not isinstance(arguments, dict):
            raise ComponentError(
                "McpCall: the arguments must be an object.", remedy='Write them as {"city": "Lund"}.', field="arguments"
            )
        tools = {tool.remote_name: tool for tool in await self.ctx.mcp_tools(self.server)}
        if self.tool_name not in tools:
            raise ComponentError(
                f"McpCall: the server '{self.server}' has no enabled tool '{self.tool_name}'"
                f"{did_you_mean(self.tool_name, tools) or '.'}",
                remedy=f"Its tools are: {listed(tools)}. `headgate mcp-servers refresh {self.server}` updates it.",
                field="tool_name",
            )
        return await call_tool(self.ctx, tools[self.tool_name], dict(arguments or {}))
