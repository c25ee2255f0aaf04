"""What the API takes and answers about shared assistants."""

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
    """A shared assistant as it is to be."""

    model_config = ConfigDict(extra="forbid")

    name: Name = Field(description="What steps link by.")
    description: PlainText = Field(default="", max_length=2_000, description="What it is good at, for people.")
    instructions: PlainText = Field(default="", max_length=500_000, description="How the model should behave.")
    model: ModelName = Field(default="", description="`provider/name`; empty: the step's own, or the default model.")
    temperature: float | None = Field(default=None, ge=0, le=2)
    space_id: str | None = Field(default=None, description="The space whose flows may link it; empty: your own.")


class AssistantChange(BaseModel):
    """What is to change; what is left out stays."""

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
