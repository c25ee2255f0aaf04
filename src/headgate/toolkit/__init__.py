"""Operations on a flow that an agent or an MCP client may call, on a `Workbench`."""

from headgate.toolkit.ports import Runner, RunOutcome
from headgate.toolkit.tool import ToolDefinition, ToolRefused, succeeded
from headgate.toolkit.tools import TOOLS, tools_for
from headgate.toolkit.workbench import Workbench

__all__ = ["TOOLS", "RunOutcome", "Runner", "ToolDefinition", "ToolRefused", "Workbench", "succeeded", "tools_for"]
