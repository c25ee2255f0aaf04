"""API schemas of MCP servers. Responses never contain values of headers or variables."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from headgate.foundation.log import redact_text
from headgate.graph.secret_reference import SavedSecret

Secrets = dict[str, SecretStr | SavedSecret]


class McpServerIn(BaseModel):
    """A server to register."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str = Field(
        description="Lower-case letters, digits, - and _; flows refer to the server by it.", examples=["weather"]
    )
    transport: Literal["http", "stdio"] = "http"
    url: str = Field(default="", description="URL of a server with transport `http`.")
    command: list[str] = Field(
        default_factory=list, description="Program and arguments of a server with transport `stdio`."
    )
    headers: Secrets = Field(
        default_factory=dict,
        description=(
            'Sent with each request, stored encrypted. A value is text, or a secret: `{"secret": '
            '"API_KEY", "scheme": "Bearer"}`.'
        ),
    )
    env: Secrets = Field(
        default_factory=dict, description=("Environment variables of a program; same format as `headers`.")
    )
    space_id: str | None = None
    enabled: bool = True


class McpServerPatch(BaseModel):
    """Members to change; omitted ones stay. A new URL or command needs its headers or env again."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: str | None = None
    command: list[str] | None = None
    headers: Secrets | None = None
    env: Secrets | None = None
    enabled: bool | None = None


class McpServerOut(BaseModel):
    """A server without its secrets."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    space_id: str
    name: str
    transport: str
    url: str
    command: list[str] | None
    secret_names: list[str] = Field(description="Names of its headers or environment variables.")
    enabled: bool
    tools_found_at: datetime | None
    error_message: str | None = Field(description="Why its tools could not be listed, or which ones were skipped.")
    created_at: datetime
    updated_at: datetime

    @field_validator("url")
    @classmethod
    def _without_keys(cls, url: str) -> str:
        """Return the URL without query, since some servers take a key there."""
        return redact_text(url)


class McpToolOut(BaseModel):
    """A tool. Its description and schema are the server's own: data, never instructions."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool = Field(description="Whether the server declares that the tool changes nothing.")
    enabled: bool


class McpToolPatch(BaseModel):
    """Whether flows may use the tool."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool


class McpRefreshOut(BaseModel):
    """The result of listing a server's tools."""

    tools: list[McpToolOut]
    added: list[str]
    changed: list[str] = Field(description="Tools whose description has changed on the server.")
    removed: list[str]
    left_out: list[str] = Field(description="Tools that the server listed and Headgate rejected, with the reason.")
    protocol: str


class McpTestOut(BaseModel):
    """The server's response to a connection test."""

    protocol: str
    server: str = Field(description="The name that the server reports.")
    tools: int
    ms: float
