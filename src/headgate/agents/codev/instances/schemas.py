"""Request and response bodies of Flowise servers. Responses contain no key."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints

InstanceId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$")]


class FlowiseInstanceIn(BaseModel):
    """A server to add."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    id: InstanceId = Field(description="Name by which sessions refer to it.")
    endpoint: str = Field(max_length=2000, description="Its URL, such as `https://flowise.example.org`.")
    api_key: SecretStr | None = Field(
        default=None, description="Stored encrypted in a variable that is sent to this server only; never returned."
    )
    key_variable: str = Field(
        default="",
        max_length=128,
        description=("Instead of a key: the variable that contains it, stored for this server."),
    )


class FlowiseInstanceOut(BaseModel):
    """A server that sessions may work on."""

    id: str
    endpoint: str
    source: Literal["operator", "tenant"] = Field(
        description=("User who added it; those of the operator come from the settings.")
    )
    has_key: bool
    key_variable: str = Field(default="", description="Name of the variable with its key.")


class InstanceTestOut(BaseModel):
    """Result of a connection test."""

    version: str
    nodes: int = Field(description="Number of its components.")
    ms: float
