"""The values that are passed between steps, one Python type per port type.

| port    | Python type | as JSON                                              |
|---------|-------------|------------------------------------------------------|
| Text    | `str`       | string                                               |
| Message | `Message`   | `{"role", "text", "files"}`                          |
| Data    | `Data`      | any JSON value                                       |
| Table   | `Table`     | `{"columns": [...], "rows": [[...], ...]}`           |
| File    | `File`      | `{"id", "name", "media_type", "size"}`               |
| Model   | `Model`     | `{"provider", "name", "params"}`; configuration only |
| Tool    | `Tool`      | none; configuration only                             |
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from headgate.graph.model import ToolApproval
from headgate.graph.secret_reference import MOST_FALLBACKS, SecretReference

Text = str

Data = JsonValue


class File(BaseModel):
    """A stored file, by reference. Read it with `ctx.files.read(file)`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    name: str
    media_type: str = "application/octet-stream"
    size: int = Field(default=0, ge=0)
    """In bytes."""


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    role: Literal["user", "assistant", "system", "tool"] = "user"
    text: str = ""
    files: tuple[File, ...] = ()


class Table(BaseModel):
    """Rows under named columns; every row has one JSON value per column."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    columns: list[str]
    rows: list[list[JsonValue]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
        width = len(self.columns)
        for number, row in enumerate(self.rows):
            if len(row) != width:
                raise ValueError(f"row {number} has {len(row)} values for {width} columns")
        return self

    @classmethod
    def from_records(cls, records: list[dict[str, JsonValue]]) -> Self:
        """Return a table of a list of objects: columns in order of first appearance, missing values null."""
        columns = list(dict.fromkeys(key for record in records for key in record))
        return cls(columns=columns, rows=[[record.get(column) for column in columns] for record in records])

    def records(self) -> list[dict[str, JsonValue]]:
        """Return one object per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Model(BaseModel):
    """A chosen chat model. Turn it into a client with `await ctx.chat_model(model)`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    provider: str
    name: str
    params: dict[str, JsonValue] = Field(default_factory=dict)
    """`temperature`, `top_p`, `max_tokens`, `base_url` and the like."""
    api_key: SecretReference | None = Field(default=None, exclude_if=lambda value: value is None)
    """The secret with its key, when it is not the provider's default. Only a saved flow refers to one."""
    fallback: "tuple[Model, ...]" = Field(default=(), max_length=MOST_FALLBACKS, exclude_if=lambda value: not value)
    """Models that are asked in this order when this one cannot answer. They have none themselves."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        """Accept `provider/name`, the form that users type."""
        if isinstance(value, str):
            provider, slash, name = value.partition("/")
            if not slash or not provider or not name:
                raise ValueError(f"'{value}' is not a model; write it as provider/name, for example openai/gpt-5-mini")
            return {"provider": provider, "name": name}
        return value

    @field_validator("fallback")
    @classmethod
    def _one_level(cls, value: "tuple[Model, ...]") -> "tuple[Model, ...]":
        if any(model.fallback for model in value):
            raise ValueError("a fallback model has none itself: list all of them in one place, in their order")
        if len({str(model) for model in value}) < len(value):
            raise ValueError("each fallback model is listed once")
        return value

    @property
    def chain(self) -> "tuple[Model, ...]":
        """This model and its fallback models, in the order in which they are asked, each by itself."""
        alone = self.model_copy(update={"fallback": ()}) if self.fallback else self
        return (alone, *(model for model in self.fallback if str(model) != str(self)))

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


@dataclass(frozen=True, slots=True)
class Recording:
    """Speech to be transcribed."""

    name: str
    content: bytes
    media_type: str
    language: str = ""
    """ISO 639-1 code; empty for automatic detection."""
    prompt: str = ""
    """Names and words that are likely to occur."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript."""

    text: str
    language: str = ""
    """As reported by the model; empty when it was not."""
    seconds: float | None = None
    """Length of the recording, as reported by the model."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of an agent: a component attached by a tool edge, or a tool of an MCP server."""

    name: str
    description: str
    parameters: dict[str, JsonValue]
    """JSON Schema of the arguments, an object."""
    call: Callable[[dict[str, JsonValue]], Awaitable[JsonValue]]
    """Runs it. Raises `HeadgateError` with a message suitable for a model."""
    server: str = ""
    """The MCP server it belongs to; empty for a component."""
    remote_name: str = ""
    """Its name on that server; `name` is a form that every model provider accepts."""
    approval: ToolApproval | None = None
    """Who approves each call before it is made; None: nobody."""
    changed: bool = False
    """Whether its server describes it otherwise than when a user accepted it: no model gets it."""

    @property
    def full_name(self) -> str:
        """Name in allow-lists and evidence: `server.tool`, or the name of a component's tool."""
        return f"{self.server}.{self.remote_name}" if self.server else self.name
