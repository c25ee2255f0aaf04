"""What the API says and takes about Flowise servers. Nothing given out holds a key."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints

InstanceId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$")]


class FlowiseInstanceIn(BaseModel):
    """A server to add."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    id: InstanceId = Field(description="The name that sessions choose it by.")
    endpoint: str = Field(max_length=2000, description="Its address, as `https://flowise.example.org`.")
    api_key: SecretStr | None = Field(
        default=None, description="Kept encrypted as a variable that is sent to this server only; never given out."
    )
    key_variable: str = Field(
        default="", max_length=128, description="Instead of a key: the variable that holds it, stored for this server."
    )


class FlowiseInstanceOut(BaseModel):
    """A server that sessions may work on."""

    id: str
    endpoint: str
    source: Literal["operator", "tenant"] = Field(description="Who added it; an operator's are in the settings.")
    has_key: bool
    key_variable: str = Field(default="", description="Name of the variable that its key is in.")


class InstanceTestOut(BaseModel):
    """What a server said when it was reached."""

    version: str
    nodes: int = Field(description="Components it has.")
    ms: float
