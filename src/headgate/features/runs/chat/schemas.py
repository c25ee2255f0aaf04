"""Request and response bodies of conversations with flows."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from headgate.features.knowledge.evaluation.schemas import LONGEST_ANSWER, ExpectedOut
from headgate.features.runs.schemas import Identifier
from headgate.graph.json_values import PlainText, plain_text

LONGEST_MESSAGE = 200_000
MOST_FILES = 20
Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(plain_text)
]


class ChatFlow(BaseModel):
    """A published flow that users can chat with."""

    id: str
    name: str
    description: str
    space_id: str
    icon: str


class ChatFlowOut(ChatFlow):
    """A published flow, as the chat shows it."""

    welcome_text: str
    """Of the settings of the widget; empty when it has none."""
    questions: list[str]
    """Suggested first messages, of the settings of the widget."""
    takes_files: bool
    """Whether the flow reads files that come with a message."""


class ConversationIn(BaseModel):
    """A new conversation."""

    model_config = ConfigDict(extra="forbid")

    flow_id: Identifier


class ConversationPatch(BaseModel):
    """A renamed conversation."""

    model_config = ConfigDict(extra="forbid")

    title: Title


class ConversationOut(BaseModel):
    """A conversation of the caller with a flow."""

    id: str
    flow_id: str
    title: str
    """The beginning of the first message until it is renamed; empty before."""
    used_at: datetime


class FeedbackIn(BaseModel):
    """What a user thinks of an answer."""

    model_config = ConfigDict(extra="forbid")

    helpful: bool
    correction: PlainText = Field(default="", max_length=LONGEST_ANSWER, description="What a correct answer would be.")


class FeedbackOut(BaseModel):
    """Feedback on an answer."""

    run_id: str
    helpful: bool
    correction: str
    created_at: datetime


class RatedAnswer(FeedbackOut):
    """Feedback on an answer from a knowledge base, with the message and the answer."""

    flow_id: str
    by_visitor: bool
    """Whether a visitor of a widget rated it, without an account."""
    question: str
    answer: str
    documents: list[ExpectedOut]
    """Documents of the base that the run received passages of; those that you may not view are omitted."""


class MessageIn(BaseModel):
    """A message of the user."""

    model_config = ConfigDict(extra="forbid")

    text: PlainText = Field(default="", max_length=LONGEST_MESSAGE)
    file_ids: list[Identifier] = Field(default_factory=list, max_length=MOST_FILES)
    wait: bool = Field(default=False, description="Respond when the run has ended, not when it starts.")

    @model_validator(mode="after")
    def _has_content(self) -> "MessageIn":
        if not self.text.strip() and not self.file_ids:
            raise ValueError("a message needs a text or a file")
        return self
