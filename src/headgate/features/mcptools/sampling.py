"""What an MCP server may have asked of users and of a model during a call of its tool (elicitation and sampling)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from headgate.graph.model import FormField

METHOD = "sampling/createMessage"
"""Name of a request for a model in the evidence; no tool can have it."""


class Sampling(BaseModel):
    """The model that answers requests of a server, and their limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        pattern=r"^[^\s/]{1,64}/\S[^\r\n]{0,199}$",
        description="Chat model, `provider/name`. The server cannot choose another one.",
        examples=["openai/gpt-5-mini"],
    )
    max_tokens: int = Field(
        default=4000, ge=1, le=200_000, description="Maximum tokens of a request: its messages, estimated, and answer."
    )
    max_requests: int = Field(default=5, ge=1, le=50, description="Maximum requests during one call of a tool.")
    ask: bool = Field(
        default=True,
        description="Whether a user must allow each request first. Only an admin may turn it off (`models.manage`).",
    )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request for a model, as a server wrote it."""

    messages: tuple[tuple[Literal["user", "assistant"], str], ...]
    max_tokens: int
    """Of the answer."""
    system: str = ""
    stop: tuple[str, ...] = ()
    """Texts at which the answer ends."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The answer of a model."""

    text: str
    model: str
    stop_reason: Literal["endTurn", "maxTokens", "stopSequence"] = "endTurn"


class Answers(Protocol):
    """Answers what a server asks during a call. What it raises ends the call, except `McpSamplingRefused`."""

    async def ask(self, message: str, fields: Sequence[FormField]) -> Mapping[str, JsonValue] | None:
        """Return the answers of users by id of the field; None when they declined. Raises until they have decided."""
        ...

    async def sample(self, request: ModelRequest) -> ModelReply:
        """Return the answer of the model. Raises `McpSamplingRefused`, and as a step's own model call."""
        ...
