"""Tools of MCP servers."""

from pathlib import Path

from pydantic import BaseModel, Field

from headgate.foundation.settings.units import MEBIBYTE


class McpSettings(BaseModel, defer_build=True):
    """Tools of MCP servers."""

    allow_stdio: bool = Field(
        default=False,
        description=(
            "Allow admins to register programs on this machine as MCP servers. They run isolated, with the hosts and "
            "folders that are declared for them."
        ),
    )
    program_folders: list[Path] = Field(
        default_factory=list,
        description=(
            "Folders that programs may be given, with everything beneath them: a JSON list such as "
            '`["/srv/shared"]`. Empty: none.'
        ),
    )
    registry_url: str | None = Field(
        default=None,
        description=(
            "URL of an MCP registry that users may search, such as https://registry.modelcontextprotocol.io; "
            "its API is version 0.1."
        ),
    )
    connect_seconds: float = Field(default=20.0, gt=0, le=300, description="Timeout for connecting to a server.")
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="Timeout of one tool call.")
    max_tools: int = Field(default=200, ge=1, le=2000, description="Maximum number of tools per server.")
    max_result_bytes: int = Field(default=MEBIBYTE, ge=1024, description="Maximum size of a tool result.")
