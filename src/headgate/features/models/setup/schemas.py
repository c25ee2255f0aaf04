"""What the API says and takes about what is set up for models. No answer holds a key or a header's value."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, field_validator

from headgate.features.models.readiness import RoleReadiness
from headgate.features.models.setup.values import ServerKind
from headgate.foundation.log import redact_text
from headgate.graph.secret_reference import SavedSecret

MOST_FALLBACKS = 8


class ModelServerIn(BaseModel):
    """A model server. One that has the same name is replaced."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    kind: ServerKind = Field(default="openai", description="The protocol it speaks.")
    address: str = Field(
        max_length=2000,
        description="Where it listens: for `openai` the address before `/models`, which most servers have at `/v1`.",
        examples=["http://localhost:8000/v1"],
    )
    key: SecretStr | SavedSecret | None = Field(
        default=None,
        description='Its key, kept encrypted, or the variable that it is in: `{"secret": "VLLM_KEY"}`. Left out, a '
        "server that stays at its address keeps its key; an empty text removes it.",
    )
    headers: dict[str, SecretStr | SavedSecret] | None = Field(
        default=None, description="Further headers of each request, as `key`. Left out, they stay like the key."
    )


class ModelServerOut(BaseModel):
    """A model server without its secrets."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="Its models are `NAME/model`.")
    space_id: str | None = Field(description="The space whose flows may use it; null: every space.")
    kind: ServerKind
    address: str
    secret_names: list[str] = Field(description="What it is sent in confidence: `key`, and the names of headers.")
    updated_at: datetime

    @field_validator("address")
    @classmethod
    def _without_keys(cls, address: str) -> str:
        """Some servers take a key in the address."""
        return redact_text(address)


class PresetOut(BaseModel):
    """A kind of server that users run, with the address it listens on by default."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    label: str
    kind: ServerKind
    address: str
    key: bool = Field(description="Whether it needs a key.")
    docs: str


class ModelServersOut(BaseModel):
    """The servers you see, and the kinds there are."""

    items: list[ModelServerOut]
    presets: list[PresetOut]


class ServerTestIn(BaseModel):
    """What to test."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(
        default=None, min_length=1, max_length=200, description="The model that is to answer; by default its first."
    )


class ServerTestOut(BaseModel):
    """What a server answered: its list of models, and one short completion."""

    ok: bool
    models: list[str] = Field(description="The models that it lists.")
    list_ms: int
    model: str | None = Field(description="The model that was asked for one word; null where there was none to ask.")
    answer_ms: int | None
    code: str | None = Field(description="Why it failed, for programs; null when it worked.")
    detail: str
    remedy: str


class RoleModelIn(BaseModel):
    """A model with its parameters."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(description="`provider/name` or `server/name`; `offline` for the assistant's offline builder.")
    params: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="`temperature`, `max_tokens`, `timeout_seconds`, `tool_shim`, `reasoning_effort` and the like, as "
        "the model's provider takes them.",
    )


class RoleIn(BaseModel):
    """The models of a role: one, or for `fallback` several in the order they are asked."""

    model_config = ConfigDict(extra="forbid")

    models: list[RoleModelIn] = Field(min_length=1, max_length=MOST_FALLBACKS)


class RolesOut(BaseModel):
    """Which model has which role, and whether it can answer."""

    items: list[RoleReadiness]


class LocalModelOut(BaseModel):
    """A model that runs inside Headgate, on this machine or to be fetched."""

    name: str
    label: str
    size: int = Field(description="Bytes.")
    licence: str
    ready: bool
    done: int = Field(description="Bytes that are here of one that is not complete.")
    fetching: bool
    detail: str = Field(description="What the fetch is doing, or why it failed.")
    remedy: str
    failed: bool


def as_facts(values: dict[str, Any]) -> dict[str, Any]:
    """Facts as they are stored: those that are set."""
    return {name: value for name, value in values.items() if value is not None}
