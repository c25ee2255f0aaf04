"""What the assistant's API takes and answers."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from headgate.agents.assistant.protocol import PROTOCOL, AssistProtocol


class AssistRequest(BaseModel):
    """One request to the assistant."""

    model_config = ConfigDict(extra="forbid")

    input_value: str = Field(min_length=1, max_length=100_000, description="Your request, in your words.")
    flow_id: str | None = Field(default=None, description="The flow to work on; null to create a new one.")
    provider: str | None = Field(default=None, description="Model provider; `offline` for the offline builder.")
    model_name: str | None = Field(default=None, description="Name of the provider's model.")
    session_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=128,
        description=(
            "Id of the conversation, whose last turns are remembered. Starts with `agentic_`, "
            "which is added if missing. Without it nothing is remembered."
        ),
    )
    max_retries: int | None = Field(
        default=None, ge=1, le=10, description="Maximum attempts at a component; default from the settings."
    )
    file_ids: tuple[str, ...] = Field(
        default=(), max_length=50, description="Files for a run that the request asks for."
    )
    outside_allowlist: tuple[str, ...] = Field(
        default=(),
        max_length=20,
        description=(
            "Tools allowed in this request although content from outside was read before: names "
            "from `outside.refused` of an earlier answer."
        ),
    )
    apply: bool = Field(
        default=False,
        description="Save what was built or edited when the turn ends. Otherwise only a flow that was run is saved.",
    )


class Stopped(BaseModel):
    """The result of a request to stop a turn; the turn's own stream ends with `cancelled`."""

    turn_id: str
    stopped: bool
    """False when the turn had ended before."""


class ProviderState(BaseModel):
    """A model provider as the assistant sees it."""

    name: str
    label: str
    configured: bool
    why_not: str = ""
    default_model: str | None = None
    models: list[dict[str, Any]] = Field(default_factory=list)


class CheckConfig(BaseModel):
    """Whether a language model is configured, and which ones there are."""

    configured: bool
    configured_providers: list[str]
    providers: list[ProviderState]
    default_provider: str
    default_model: str
    problem: str = ""
    """Why that model cannot answer, or why there is none; empty when it can."""
    remedy: str = ""
    offline_builder: bool = True
    """The offline builder needs no configuration; it is used when no model is."""
    protocol: AssistProtocol = PROTOCOL
    """The texts that a client sends word for word."""
