"""API schemas of the model setup. No response contains a key or a header's value."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, field_validator

from headgate.features.models.local.weights import Use
from headgate.features.models.readiness import RoleReadiness
from headgate.features.models.setup.values import ServerKind
from headgate.foundation.log import redact_text
from headgate.graph.secret_reference import SavedSecret

MOST_FALLBACKS = 8


class ModelServerIn(BaseModel):
    """A model server. It replaces one with the same name."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    kind: ServerKind = Field(default="openai", description="The API that the server offers.")
    address: str = Field(
        max_length=2000,
        description="Base URL: for `openai` the part before `/models`, which most servers have at `/v1`.",
        examples=["http://localhost:8000/v1"],
    )
    key: SecretStr | SavedSecret | None = Field(
        default=None,
        description=(
            'Its key, stored encrypted, or a reference to a variable: `{"secret": '
            '"VLLM_KEY"}`. When omitted, a server with an unchanged URL keeps its key; an empty '
            "string removes it."
        ),
    )
    headers: dict[str, SecretStr | SavedSecret] | None = Field(
        default=None,
        description=(
            "Additional headers of each request, in the format of `key`. When omitted, they are kept like the key."
        ),
    )


class ModelServerOut(BaseModel):
    """A model server without its secrets."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="Its models are `NAME/model`.")
    space_id: str | None = Field(description="Space whose flows may use it; null: every space.")
    kind: ServerKind
    address: str
    secret_names: list[str] = Field(description="Names of its stored credentials: `key`, and names of headers.")
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
    """The server to test."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(
        default=None, min_length=1, max_length=200, description="The model to test; default: its first."
    )


class ServerTestOut(BaseModel):
    """A server's response: its list of models, and one short completion."""

    ok: bool
    models: list[str] = Field(description="The models that it lists.")
    list_ms: int
    model: str | None = Field(description="The model that was tested; null when there was none.")
    answer_ms: int | None
    code: str | None = Field(description="Error code; null when the test succeeded.")
    detail: str
    remedy: str


class RoleModelIn(BaseModel):
    """A model with its parameters."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(description="`provider/name` or `server/name`; `offline` for the assistant's offline builder.")
    params: dict[str, JsonValue] = Field(
        default_factory=dict,
        description=(
            "`temperature`, `max_tokens`, `timeout_seconds`, `tool_shim`, `reasoning_effort` and "
            "others, as the model's provider accepts them."
        ),
    )


class RoleIn(BaseModel):
    """The models of a role: one, or for `fallback` several in order."""

    model_config = ConfigDict(extra="forbid")

    models: list[RoleModelIn] = Field(min_length=1, max_length=MOST_FALLBACKS)


class RolesOut(BaseModel):
    """The models of roles, and whether they are usable."""

    items: list[RoleReadiness]


class LocalModelOut(BaseModel):
    """A model that runs inside Headgate, on this machine or to be fetched."""

    name: str
    label: str
    use: Use = Field(description="`chat`, `embedding` for search by meaning, or `rerank` for its results.")
    size: int = Field(description="Bytes.")
    licence: str
    ready: bool
    done: int = Field(description="Bytes downloaded so far of an incomplete model.")
    fetching: bool
    detail: str = Field(description="Status of the download, or why it failed.")
    remedy: str
    failed: bool


def as_facts(values: dict[str, Any]) -> dict[str, Any]:
    """Return facts in stored form: only those that are set."""
    return {name: value for name, value in values.items() if value is not None}
