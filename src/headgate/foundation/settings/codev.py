"""Settings of the development agent."""

from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, StringConstraints

from headgate.foundation.settings.models import ModelName


class FlowiseInstance(BaseModel, defer_build=True):
    """A Flowise server that the operator vouches for."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$")]
    endpoint: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#@]+$", max_length=2000)]
    api_key: SecretStr = SecretStr("")


class CodevSettings(BaseModel, defer_build=True):
    """The development agent: its model, its limits, and Flowise servers it may work on."""

    model: ModelName = Field(
        default="", description="`provider/name` that it works with. Empty: that of the assistant."
    )
    temperature: float = Field(
        default=0.2,
        ge=0,
        le=2,
        description="Sampling temperature, for models that take one: low, so that it keeps to rules.",
    )
    skip_clarification: bool = Field(default=False, description="Never ask questions before looking around.")
    max_iterations: int = Field(default=5, ge=1, le=20, description="Plans that one session tries at most.")
    max_tool_calls: int = Field(default=60, ge=1, le=1000, description="Tool calls of one phase at most.")
    token_budget: int = Field(
        default=2_000_000, ge=1000, description="Tokens that one session may use where its start does not say."
    )
    discover_cache_seconds: float = Field(
        default=300.0, ge=0, description="How long what a Flowise server says of its components is remembered; 0: not."
    )
    sessions_per_minute: int = Field(
        default=10, ge=0, description="Sessions a minute that one address may start, with auto-login too; 0: no limit."
    )
    max_sessions: int = Field(default=8, ge=1, le=200, description="Sessions that one server works on at once.")
    flowise_instances: list[FlowiseInstance] = Field(
        default_factory=list,
        description='Flowise servers for everybody, as a JSON list of `{"id": ..., "endpoint": ..., "api_key": ...}`. '
        "Their addresses may be private: the operator vouches for them. A tenant's admins may add others.",
    )
    flowise_timeout_seconds: float = Field(default=60.0, gt=0, description="Longest time for one answer of Flowise.")
    langsmith: bool = Field(
        default=False,
        description="Send traces of sessions, with all that models are told, to LangSmith, when `LANGSMITH_API_KEY` is "
        "set. Off: nothing is sent.",
    )
