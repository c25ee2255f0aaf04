"""Flow operations for agents and MCP clients, on a `Workbench`. `registry` lists them all."""

from headgate.toolkit.ports import Runner, RunOutcome
from headgate.toolkit.tool import ToolDefinition, ToolRefused, succeeded
from headgate.toolkit.workbench import Workbench

__all__ = ["RunOutcome", "Runner", "ToolDefinition", "ToolRefused", "Workbench", "succeeded"]
