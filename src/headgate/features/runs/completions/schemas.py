"""OpenAI's chat completions, as far as a flow can answer them. Members that are not named here are ignored."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.graph.json_values import PlainObject, PlainText

MOST_MESSAGES = 500
LONGEST = 1_000_000


class ContentPart(BaseModel):
    """A part of a message's content."""

    model_config = ConfigDict(extra="ignore")

    type: PlainText = Field(max_length=40)
    text: PlainText = Field(default="", max_length=LONGEST)


class ChatMessage(BaseModel):
    """A message of the chat."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[PlainText, Field(max_length=LONGEST)] | list[ContentPart] | None = None


class StreamOptions(BaseModel):
    """How a stream is told."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """What a client of the OpenAI API sends."""

    model_config = ConfigDict(extra="ignore")

    model: PlainText = Field(min_length=1, max_length=300, description="Id or name of a published flow.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1)
    form_data: PlainObject = Field(default_factory=dict, description="Headgate's own: answers to the flow's form.")


class ModelOut(BaseModel):
    """A published flow as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "headgate"


class ModelList(BaseModel):
    """The published flows that the caller may run."""

    object: Literal["list"] = "list"
    data: list[ModelOut]


Answer = dict[str, Any]


class Refusal(BaseModel):
    """What went wrong, as clients of OpenAI read it."""

    message: str
    type: str
    param: str | None
    code: str | None
    """Stable: programs decide by this."""


class ErrorOut(BaseModel):
    """An answer that is no completion."""

    error: Refusal
