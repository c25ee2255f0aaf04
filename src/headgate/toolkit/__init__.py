"""Operations on a flow that an agent or an MCP client may call, on a `Workbench`. `registry` has them all."""

from headgate.toolkit.ports import Runner, RunOutcome
from headgate.toolkit.tool import ToolDefinition, ToolRefused, succeeded
from headgate.toolkit.workbench import Workbench

__all__ = ["RunOutcome", "Runner", "ToolDefinition", "ToolRefused", "Workbench", "succeeded"]
