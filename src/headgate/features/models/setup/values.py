"""What is set up, as the rest of the models feature reads it. Nothing here knows a database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr

from headgate.foundation.guarded_http.addresses import Network
from headgate.sdk.values import Model

ServerKind = Literal["openai", "ollama"]
"""The protocol of a server: OpenAI's, or Ollama's own."""


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server of models that users run or rent, known by a name: its models are `NAME/model`."""

    name: str
    kind: ServerKind
    address: str
    space_id: str | None = None
    """The space that it belongs to; None: every space of the organisation."""
    sealed: bytes | None = field(default=None, repr=False)
    """Its key and headers, encrypted."""
    networks: Sequence[Network] = ()
    """Internal networks that it may be in."""


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """What a server is sent with each request."""

    key: SecretStr | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class ModelFacts(BaseModel):
    """What an organisation says of a model. A member that is not set keeps what the catalogue and the server say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str | None = Field(default=None, min_length=1, max_length=200, description="Name shown to users.")
    description: str | None = Field(default=None, max_length=1000, description="What it is for.")
    hidden: bool = Field(
        default=False, description="Whether it is no longer offered. Steps that name it continue to run."
    )
    price_in: float | None = Field(default=None, ge=0, le=100_000, description="US dollars a million prompt tokens.")
    price_out: float | None = Field(default=None, ge=0, le=100_000, description="US dollars a million answer tokens.")
    context_window: int | None = Field(default=None, ge=256, description="Longest prompt, in tokens.")
    max_output: int | None = Field(default=None, ge=1, description="Longest answer, in tokens.")
    tools: Literal["native", "shim", "none"] | None = Field(
        default=None, description="How it calls tools: by itself, through a JSON schema, or not at all."
    )
    vision: bool | None = Field(default=None, description="Whether it takes images.")


class ModelRole(StrEnum):
    """What a model is chosen for."""

    DEFAULT = "default"
    ASSISTANT = "assistant"
    CODEV = "codev"
    STEP = "step"
    FALLBACK = "fallback"


OFFLINE = Model(provider="offline", name="offline")
"""Stands for the offline builder, which is no language model, where the assistant's model is chosen."""


@dataclass(frozen=True, slots=True)
class RoleChoice:
    """What is chosen for a role."""

    models: tuple[Model, ...] = ()
    """Empty where only parameters are set. One for every role but `fallback`."""
    source: str = ""
    """Where the models were chosen: `settings`, or the name of a variable."""
    params: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    """Parameters of whichever model it is, as far as its provider takes them; those of the model come before them."""


@dataclass(frozen=True, slots=True)
class ModelSetup:
    """Everything that is set up for one space."""

    servers: Mapping[str, ModelServer] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[tuple[str, str], ModelFacts] = field(default_factory=lambda: MappingProxyType({}))
    """By provider and name."""
    roles: Mapping[ModelRole, RoleChoice] = field(default_factory=lambda: MappingProxyType({}))

    def with_facts(self, facts: Mapping[tuple[str, str], ModelFacts]) -> "ModelSetup":
        """The same with other facts."""
        return replace(self, facts=facts)


NOTHING = ModelSetup()
