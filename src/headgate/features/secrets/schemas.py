"""API schemas of variables. No response schema contains a value."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class VariableIn(BaseModel):
    """A value to store, encrypted."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    value: SecretStr = Field(description="Stored encrypted. Never returned.")
    secret: bool = Field(default=True, description="Whether it is a secret, or a setting such as an address.")
    hosts: list[str] = Field(
        default_factory=list,
        max_length=50,
        description=(
            "Servers it may be sent to, as `api.example.org` or `http://localhost:8000`. Empty: "
            "any server that a flow names, except that a model provider's key is sent to that "
            "provider only."
        ),
    )


class VariableOut(BaseModel):
    """A variable without its value."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    space_id: str | None = Field(description="Space whose flows may use it; null: all spaces.")
    secret: bool
    hosts: list[str] | None
    updated_at: datetime
    replaced_in: list[str] = Field(
        default_factory=list,
        description="For a variable of the organisation: spaces you can view in which a space variable overrides it.",
    )
