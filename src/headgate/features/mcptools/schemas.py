"""API schemas of MCP servers. Responses never contain values of headers or variables."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from headgate.features.mcptools.programs import ProgramAccess
from headgate.features.mcptools.sampling import Sampling
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
    access: ProgramAccess = Field(
        default_factory=ProgramAccess, description="Hosts and folders of a program; by default none."
    )
    connection: str = Field(
        default="",
        max_length=64,
        description="Name of a connection of the space whose credential is added to requests, such as one with OAuth.",
    )
    sampling: Sampling | None = Field(
        default=None, description="The model that answers requests of the server (sampling); null: they are refused."
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
    access: ProgramAccess | None = Field(default=None, description="Replaces all hosts and folders of a program.")
    connection: str | None = Field(default=None, max_length=64, description="Empty removes it.")
    sampling: Sampling | None = Field(default=None, description="Null removes it.")
    enabled: bool | None = None


class McpAuthorization(BaseModel):
    """How to authorize a server by OAuth 2.1."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    client_id: str = Field(
        default="", max_length=500, description="As the provider issued it; empty: Headgate registers itself."
    )
    client_secret: SecretStr = Field(default=SecretStr(""), description="Of that client; empty for a public one.")
    scopes: str = Field(default="", max_length=2000, description="Separated by spaces; empty: as the server asks.")
    personal: bool = Field(default=False, description="Whether only your own runs may use the authorization.")
    register_again: bool = Field(
        default=False, description="Read the metadata and register again; otherwise an existing connection is reused."
    )


class McpServerOut(BaseModel):
    """A server without its secrets."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    space_id: str
    name: str
    transport: str
    url: str
    command: list[str] | None
    access: ProgramAccess | None = Field(description="Hosts and folders of a program; null for a URL.")
    secret_names: list[str] = Field(description="Names of its headers or environment variables.")
    connection: str = Field(description="Name of the connection whose credential is sent; empty for none.")
    sampling: Sampling | None = Field(description="The model that answers requests of the server; null for none.")
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
    sha256: str = Field(description="Of the description, the schema and read_only.")
    changed: bool = Field(description="Whether they have changed since a user accepted them: the tool is refused.")
    difference: list[str] = Field(
        description="Of a changed tool: the lines that differ from the accepted description, with + or -."
    )


class McpToolPatch(BaseModel):
    """Whether flows may use the tool."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool


class McpToolsAccept(BaseModel):
    """Changed tools that a user has seen."""

    model_config = ConfigDict(extra="forbid")

    tools: dict[str, str] = Field(
        max_length=2_000, description="Hash that was seen by name of the tool; empty: every changed tool."
    )


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


class RegistryHeader(BaseModel):
    """A header that a server of the registry takes."""

    name: str
    description: str
    required: bool


class RegistryServer(BaseModel):
    """A server in the registry. All texts are its publisher's."""

    name: str = Field(examples=["io.github.example/weather"])
    title: str
    description: str
    version: str
    url: str
    headers: list[RegistryHeader]
    suggested_name: str = Field(description="A name under which it can be registered here.")


class RegistryOut(BaseModel):
    """The result of a search in the registry."""

    configured: bool = Field(description="Whether the operator configured a registry.")
    items: list[RegistryServer]
    omitted: int = Field(description="Found servers without a URL that can be used, such as programs.")
    more: bool = Field(description="Whether the registry has more servers for this search.")
