"""The values that travel between steps, one Python type a port type.

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

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from headgate.graph.secret_reference import SecretReference

Text = str

Data = JsonValue


class File(BaseModel):
    """A stored file, by reference. Read it with `ctx.files.read(file)`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    name: str
    media_type: str = "application/octet-stream"
    size: int = Field(default=0, ge=0)
    """Bytes."""


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    role: Literal["user", "assistant", "system", "tool"] = "user"
    text: str = ""
    files: tuple[File, ...] = ()


class Table(BaseModel):
    """Rows under named columns; every row has one JSON value a column."""

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
        """A table of a list of objects: columns in order of first appearance, missing values null."""
        columns = list(dict.fromkeys(key for record in records for key in record))
        return cls(columns=columns, rows=[[record.get(column) for column in columns] for record in records])

    def records(self) -> list[dict[str, JsonValue]]:
        """One object a row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Model(BaseModel):
    """A chosen chat model. Turn it into a client with `await ctx.chat_model(model)`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    provider: str
    name: str
    params: dict[str, JsonValue] = Field(default_factory=dict)
    """`temperature`, `top_p`, `max_tokens`, `base_url` and the like."""
    api_key: SecretReference | None = Field(default=None, exclude_if=lambda value: value is None)
    """The secret that its key is in, when it is not the provider's usual one. Only a saved flow names one."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        """Accept `provider/name`, the form people type."""
        if isinstance(value, str):
            provider, slash, name = value.partition("/")
            if not slash or not provider or not name:
                raise ValueError(f"'{value}' is not a model; write it as provider/name, for example openai/gpt-5-mini")
            return {"provider": provider, "name": name}
        return value

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


@dataclass(frozen=True, slots=True)
class Recording:
    """Speech to be written down."""

    name: str
    content: bytes
    media_type: str
    language: str = ""
    """ISO 639-1 code; empty lets the model find out."""
    prompt: str = ""
    """Names and words that are likely to be said."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said."""

    text: str
    language: str = ""
    """As the model told; empty when it did not."""
    seconds: float | None = None
    """Length of the recording, as the model told."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something an agent can call: a component attached by a tool edge, or a tool of an MCP server."""

    name: str
    description: str
    parameters: dict[str, JsonValue]
    """JSON Schema of the arguments, an object."""
    call: Callable[[dict[str, JsonValue]], Awaitable[JsonValue]]
    """Runs it. Raises `HeadgateError` with a message fit for a model to read."""
    server: str = ""
    """The MCP server it belongs to; empty for a component."""
    remote_name: str = ""
    """Its name on that server; `name` is a form of it that every model provider takes."""

    @property
    def full_name(self) -> str:
        """What allow-lists and the evidence know it by: `server.tool`, or the name of a component's tool."""
        return f"{self.server}.{self.remote_name}" if self.server else self.name
