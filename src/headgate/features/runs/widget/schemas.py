"""Request and response bodies of widgets."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.runs.widget.tokens import LONGEST
from headgate.graph.json_values import LARGEST_INTEGER, SMALLEST_INTEGER, PlainText
from headgate.graph.model import FormField

Token = Annotated[str, Field(max_length=LONGEST)]
Name = Annotated[PlainText, Field(max_length=64)]
Whole = Annotated[int, Field(ge=SMALLEST_INTEGER, le=LARGEST_INTEGER)]
Number = Annotated[float, Field(allow_inf_nan=False)]
MOST_FILES = 10
LONGEST_TEXT = 20_000
Answer = (
    Annotated[PlainText, Field(max_length=LONGEST_TEXT)]
    | Whole
    | Number
    | Annotated[list[Token], Field(max_length=MOST_FILES)]
)


class WidgetOut(BaseModel):
    """A widget for its frame."""

    flow_id: str
    kind: Literal["form", "chat"]
    color: str
    theme: Literal["light", "dark", "auto"]
    title: str
    welcome_text: str
    questions: list[str]
    """Suggested first messages of a chat."""
    form: list[FormField]
    visit: str


class WidgetStart(BaseModel):
    """The input of a visitor."""

    model_config = ConfigDict(extra="forbid")

    text: PlainText = Field(default="", max_length=LONGEST_TEXT)
    form_data: dict[Name, Answer] = Field(default_factory=dict, max_length=100)
    """Answers to the form of the flow, whose fields define the types. A file field takes
    tokens of uploads of this visit."""
    files: list[Token] = Field(default_factory=list, max_length=MOST_FILES)


class WidgetRun(BaseModel):
    """A started run."""

    run: str


class WidgetFile(BaseModel):
    """An uploaded file."""

    token: str
    name: str
    size: int
