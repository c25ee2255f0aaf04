"""API schemas of descriptions. Everything in them is the description's own words: data, never instructions."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from headgate.components.readers.api.description import LONGEST_KEY, MOST_OPERATIONS


class ApiDocumentIn(BaseModel):
    """A description of an API, as text or as an address that it is fetched from."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    content: str = Field(
        default="",
        description="OpenAPI 3 or Swagger 2 as JSON or YAML, a Postman collection, HAR, or command lines of curl.",
    )
    url: str = Field(default="", max_length=8_000, description="Address to fetch it from, in place of the text.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.content.strip()) == bool(self.url.strip()):
            raise ValueError("Give either content or url.")
        return self


class ApiSuggestionOut(BaseModel):
    """What a description says about the connection that it needs."""

    title: str
    format: str
    operations: int
    kind: str = Field(description="Kind of connections that fits its authentication.")
    fields: dict[str, JsonValue] = Field(description="Fields of that kind, as far as the description has them.")


class ApiOut(BaseModel):
    """The description of a connection's API."""

    model_config = ConfigDict(from_attributes=True)

    title: str
    version: str
    format: str
    server: str = Field(description="As the document names it; requests go to the address of the connection.")
    sha256: str = Field(description="Of the document.")
    operations: int
    changed: int = Field(description="Operations whose description changed since it was accepted.")
    skipped: list[str] = Field(description="Operations that cannot be used, with the reason; not all of them.")
    skipped_count: int
    created_at: datetime


class ApiChangesOut(BaseModel):
    """What a new description changed; at most 100 names each."""

    api: ApiOut
    added: list[str]
    changed: list[str] = Field(description="Agents get these again after they were accepted.")
    removed: list[str]


class OperationOut(BaseModel):
    """An operation in a list."""

    model_config = ConfigDict(from_attributes=True)

    key: str = Field(description="Method and path, by which steps name it.", examples=["GET /users/{id}"])
    operation_id: str
    summary: str
    tags: list[str]
    deprecated: bool
    changed: bool = Field(description="Whether its description changed since it was accepted.")


class OperationDetailOut(OperationOut):
    """An operation with its contract."""

    description: str
    input: dict[str, Any] = Field(description="JSON Schema of the arguments.")
    output: dict[str, Any] | None = Field(description="JSON Schema of a successful response; null: not described.")
    response: dict[str, Any] = Field(description="The response in the form of contracts; empty: not described.")
    paging: dict[str, Any] | None = Field(description="How pages are found; null: the operation has none.")
    difference: list[str] = Field(
        description="Of a changed operation: the lines that differ from the accepted description, with + or -."
    )


class OperationsAccept(BaseModel):
    """Changed operations that a user has seen."""

    model_config = ConfigDict(extra="forbid")

    operations: list[str] = Field(max_length=MOST_OPERATIONS, description="Keys; empty: all of them.")
    sha256: str = Field(
        default="", max_length=64, description="Of the document that was seen; it is refused when it is another by now."
    )


OPERATION_LENGTH = LONGEST_KEY
