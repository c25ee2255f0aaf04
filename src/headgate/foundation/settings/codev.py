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

    model: ModelName = Field(default="", description="`provider/name` of its model. Empty: the model of the assistant.")
    temperature: float = Field(
        default=0.2,
        ge=0,
        le=2,
        description="Sampling temperature, for models that support it: low, for reliable results.",
    )
    skip_clarification: bool = Field(default=False, description="Never ask questions before inspecting the instance.")
    max_iterations: int = Field(default=5, ge=1, le=20, description="Maximum number of plans in one session.")
    max_tool_calls: int = Field(default=60, ge=1, le=1000, description="Maximum tool calls in one phase.")
    token_budget: int = Field(
        default=2_000_000, ge=1000, description="Token budget of a session, unless it is set at the start."
    )
    discover_cache_seconds: float = Field(
        default=300.0, ge=0, description="How long a Flowise server's component descriptions are cached; 0: not cached."
    )
    sessions_per_minute: int = Field(
        default=10,
        ge=0,
        description=("Sessions per minute that one address may start, also with auto-login; 0: no limit."),
    )
    max_sessions: int = Field(default=8, ge=1, le=200, description="Concurrent sessions on one server.")
    flowise_instances: list[FlowiseInstance] = Field(
        default_factory=list,
        description=(
            'Flowise servers for all users, as a JSON list of `{"id": ..., "endpoint": ..., '
            '"api_key": ...}`. Private addresses are allowed here. A tenant\'s admins may add '
            "others."
        ),
    )
    flowise_timeout_seconds: float = Field(default=60.0, gt=0, description="Timeout of a request to Flowise.")
    langsmith: bool = Field(
        default=False,
        description=(
            "Send traces of sessions, including all prompts, to LangSmith, when "
            "`LANGSMITH_API_KEY` is set. Off: nothing is sent."
        ),
    )
