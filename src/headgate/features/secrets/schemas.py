"""What the API says and takes about variables. There is no schema with a value to give out, and none is wanted."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class VariableIn(BaseModel):
    """A value to keep, encrypted."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    value: SecretStr = Field(description="Kept encrypted. It is never given out again.")
    secret: bool = Field(default=True, description="Whether it is a secret, or a setting such as an address.")
    hosts: list[str] = Field(
        default_factory=list,
        max_length=50,
        description="Servers it may be sent to, as `api.example.org` or `http://localhost:8000`. Empty: any that a "
        "flow names, except that a model provider's key goes to that provider only.",
    )


class VariableOut(BaseModel):
    """A variable without its value."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    space_id: str | None = Field(description="The space whose flows may use it; null: every space's.")
    secret: bool
    hosts: list[str] | None
    updated_at: datetime
    replaced_in: list[str] = Field(
        default_factory=list,
        description="Of the organisation's: spaces you see in which a variable of the space replaces it.",
    )
