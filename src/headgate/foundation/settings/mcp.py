"""Tools of MCP servers."""

from pydantic import BaseModel, Field

from headgate.foundation.settings.units import MEBIBYTE


class McpSettings(BaseModel, defer_build=True):
    """Tools of MCP servers."""

    allow_stdio: bool = Field(
        default=False,
        description="Whether a space may register programs of this machine as MCP servers. Whoever may use the API can "
        "then start any program as the server's user.",
    )
    connect_seconds: float = Field(default=20.0, gt=0, le=300, description="Longest time to reach a server.")
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="Longest time one tool call may take.")
    max_tools: int = Field(default=200, ge=1, le=2000, description="Tools kept of one server.")
    max_result_bytes: int = Field(default=MEBIBYTE, ge=1024, description="Largest result of a tool call.")
