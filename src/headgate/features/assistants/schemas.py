"""API schemas of shared assistants."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from headgate.foundation import names
from headgate.graph.json_values import PlainText
from headgate.sdk import Model


def _model(value: str) -> str:
    return str(Model.model_validate(value)) if value else value


Name = Annotated[names.Name, Field(max_length=100)]
ModelName = Annotated[PlainText, Field(max_length=300), AfterValidator(_model)]


class AssistantIn(BaseModel):
    """The content of a shared assistant."""

    model_config = ConfigDict(extra="forbid")

    name: Name = Field(description="Name that steps refer to.")
    description: PlainText = Field(default="", max_length=2_000, description="Description for users.")
    instructions: PlainText = Field(default="", max_length=500_000, description="Instructions for the model.")
    model: ModelName = Field(default="", description="`provider/name`; empty: the step's model, or the default model.")
    temperature: float | None = Field(default=None, ge=0, le=2)
    space_id: str | None = Field(default=None, description="Space whose flows may use it; empty: your own space.")


class AssistantChange(BaseModel):
    """The members to change; omitted ones stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    description: PlainText | None = Field(default=None, max_length=2_000)
    instructions: PlainText | None = Field(default=None, max_length=500_000)
    model: ModelName | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)


class AssistantOut(BaseModel):
    """A shared assistant."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    space_id: str
    name: str
    description: str
    instructions: str
    model: str
    temperature: float | None
    created_at: datetime
    updated_at: datetime
