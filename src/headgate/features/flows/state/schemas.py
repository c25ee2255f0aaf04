"""API schemas of the state of flows."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from headgate.graph.json_values import PlainJson
from headgate.sdk.state import StateType


class StateSummary(BaseModel):
    """A name without its value."""

    name: str
    version: int
    """Counts the values of the name from 1."""
    size: int
    """Bytes of the value as JSON."""
    classification: int | None
    """Of the value: that of the run that wrote it; null where classifications were disabled or a user set it first."""
    type: StateType
    """Declared by the step that wrote it; new values comply with it."""
    changed_at: datetime


class StateEntry(BaseModel):
    """A value that a name had."""

    version: int
    value: JsonValue
    classification: int | None
    run_id: str | None
    """The run that wrote it; null for a value that a user set."""
    step_id: str | None
    user_id: str | None
    written_at: datetime


class StateOut(StateSummary):
    """A name with its value and history."""

    value: JsonValue
    history: list[StateEntry]
    """Newest first."""


class StateList(BaseModel):
    """The state of a flow."""

    items: list[StateSummary]


class StateIn(BaseModel):
    """A value to set."""

    model_config = ConfigDict(extra="forbid")

    value: PlainJson
    expected_version: int | None = Field(
        default=None, ge=0, description="Refused with 409 unless the value has this version; 0: unless there is none."
    )
