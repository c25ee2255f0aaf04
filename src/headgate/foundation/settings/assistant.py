"""Settings of the assistant."""

from pydantic import BaseModel, Field


class AssistantSettings(BaseModel, defer_build=True):
    """What one turn of the assistant may use, and how long it remembers a conversation."""

    max_turns_per_person: int = Field(
        default=5,
        ge=0,
        description="Concurrent turns of one user on one server, over all windows and API keys; 0: no limit.",
    )
    max_tool_calls: int = Field(default=60, ge=1, le=1000, description="Maximum tool calls in one turn.")
    max_seconds: float = Field(default=600.0, gt=0, description="Maximum duration of one turn.")
    max_tokens: int = Field(default=400_000, ge=1000, description="Maximum tokens in one turn, over all model calls.")
    max_retries: int = Field(
        default=3, ge=1, le=10, description="Attempts at a component, unless the request sets a number."
    )
    memory_hours: float = Field(
        default=24.0,
        gt=0,
        le=8760,
        description="How long a conversation is remembered after its last turn, in the database or (with the engine "
        "`celery`) in Redis.",
    )
