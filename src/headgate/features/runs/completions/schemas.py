"""Bodies of OpenAI's chat completions, as far as a flow supports them. Unknown members are ignored."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.graph.json_values import PlainObject, PlainText

MOST_MESSAGES = 500
LONGEST = 1_000_000


class ContentPart(BaseModel):
    """One part of a message's content."""

    model_config = ConfigDict(extra="ignore")

    type: PlainText = Field(max_length=40)
    text: PlainText = Field(default="", max_length=LONGEST)


class ChatMessage(BaseModel):
    """A message of the chat."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[PlainText, Field(max_length=LONGEST)] | list[ContentPart] | None = None


class StreamOptions(BaseModel):
    """Options of a streamed response."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A chat completion request of an OpenAI client."""

    model_config = ConfigDict(extra="ignore")

    model: PlainText = Field(min_length=1, max_length=300, description="Id or name of a published flow.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1)
    form_data: PlainObject = Field(default_factory=dict, description="Headgate extension: answers to the flow's form.")


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
    """An error in OpenAI's format."""

    message: str
    type: str
    param: str | None
    code: str | None
    """Stable code, for programs."""


class ErrorOut(BaseModel):
    """The response body of an error."""

    error: Refusal
