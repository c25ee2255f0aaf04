"""What the API says and takes about MCP servers. Nothing given out holds a header's value or a variable's."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from headgate.foundation.log import redact_text
from headgate.graph.secret_reference import SavedSecret

Secrets = dict[str, SecretStr | SavedSecret]


class McpServerIn(BaseModel):
    """A server to register."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str = Field(description="Small letters, digits, - and _; flows call the server by it.", examples=["weather"])
    transport: Literal["http", "stdio"] = "http"
    url: str = Field(default="", description="Address of a server with transport `http`.")
    command: list[str] = Field(
        default_factory=list, description="Program and arguments of a server with transport `stdio`."
    )
    headers: Secrets = Field(
        default_factory=dict,
        description="Sent with each request, kept encrypted. A value is text, or a secret: "
        '`{"secret": "API_KEY", "scheme": "Bearer"}`.',
    )
    env: Secrets = Field(default_factory=dict, description="Environment of a program; as `headers`.")
    space_id: str | None = None
    enabled: bool = True


class McpServerPatch(BaseModel):
    """What to change; members that are left out stay. Another address or command needs its headers or env again."""

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
    error_message: str | None = Field(description="Why its tools could not be found last, or which were left out.")
    created_at: datetime
    updated_at: datetime

    @field_validator("url")
    @classmethod
    def _without_keys(cls, url: str) -> str:
        """Some servers take a key in the address."""
        return redact_text(url)


class McpToolOut(BaseModel):
    """A tool. Its description and schema are the server's own words: data, never instructions."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool = Field(description="Whether the server says that it changes nothing.")
    enabled: bool


class McpToolPatch(BaseModel):
    """Whether flows may use the tool."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool


class McpRefreshOut(BaseModel):
    """What looking for a server's tools found."""

    tools: list[McpToolOut]
    added: list[str]
    changed: list[str] = Field(description="Tools that the server describes otherwise than before.")
    removed: list[str]
    left_out: list[str] = Field(description="What the server listed and Headgate does not take, and why.")
    protocol: str


class McpTestOut(BaseModel):
    """What a server said when it was reached."""

    protocol: str
    server: str = Field(description="The name it gives itself.")
    tools: int
    ms: float
