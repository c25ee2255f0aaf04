"""Setup values for the rest of the models feature, independent of the database."""

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
    """A server's key and headers."""

    key: SecretStr | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class ModelFacts(BaseModel):
    """An organisation's facts about a model. Unset members keep the values of the catalogue and the server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str | None = Field(default=None, min_length=1, max_length=200, description="Name shown to users.")
    description: str | None = Field(default=None, max_length=1000, description="Purpose of the model.")
    hidden: bool = Field(default=False, description="Whether it is hidden. Steps that use it keep running.")
    price_in: float | None = Field(default=None, ge=0, le=100_000, description="US dollars per million prompt tokens.")
    price_out: float | None = Field(default=None, ge=0, le=100_000, description="US dollars per million output tokens.")
    context_window: int | None = Field(default=None, ge=256, description="Maximum length of a prompt, in tokens.")
    max_output: int | None = Field(default=None, ge=1, description="Maximum length of an answer, in tokens.")
    max_concurrent: int | None = Field(
        default=None, ge=1, le=100_000, description="Steps of flows that may call it at the same time; others wait."
    )
    tools: Literal["native", "shim", "none"] | None = Field(
        default=None, description="How it calls tools: natively, through a JSON schema, or not at all."
    )
    vision: bool | None = Field(default=None, description="Whether it accepts images.")


class ModelRole(StrEnum):
    """The role of a model."""

    DEFAULT = "default"
    ASSISTANT = "assistant"
    CODEV = "codev"
    STEP = "step"
    FALLBACK = "fallback"


OFFLINE = Model(provider="offline", name="offline")
"""Represents the offline builder, which is no language model, in the choice of the assistant's model."""


@dataclass(frozen=True, slots=True)
class RoleChoice:
    """The choice for a role."""

    models: tuple[Model, ...] = ()
    """Empty where only parameters are set. One for every role but `fallback`."""
    source: str = ""
    """Source of the choice: `settings`, or the name of a variable."""
    params: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    """Parameters for any model of the role, as far as its provider accepts them; the model's own have precedence."""


@dataclass(frozen=True, slots=True)
class ModelSetup:
    """Everything that is set up for one space."""

    servers: Mapping[str, ModelServer] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[tuple[str, str], ModelFacts] = field(default_factory=lambda: MappingProxyType({}))
    """By provider and name."""
    roles: Mapping[ModelRole, RoleChoice] = field(default_factory=lambda: MappingProxyType({}))

    def with_facts(self, facts: Mapping[tuple[str, str], ModelFacts]) -> "ModelSetup":
        """Return the same with other facts."""
        return replace(self, facts=facts)


NOTHING = ModelSetup()
