"""API schemas of sent events."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.runs.sent_events.topic import LONGEST_CORRELATION, LONGEST_NAME
from headgate.foundation.names import Name
from headgate.graph.json_values import PlainJson, PlainText
from headgate.sdk.sent_events import Deliver

LONGEST_KEEP_HOURS = 720.0
EventState = Literal["kept", "delivered", "expired"]


class EventIn(BaseModel):
    """An event for steps that wait for it."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Name, Field(max_length=LONGEST_NAME)] = Field(description="Name that a WaitForEvent step has.")
    correlation: PlainText = Field(
        default="", max_length=LONGEST_CORRELATION, description="Value that the step waits for, e.g. an order number."
    )
    data: PlainJson = Field(default=None, description="JSON that the step receives, up to 200,000 bytes.")
    deliver: Deliver = Field(
        default="one", description="Whether one step receives it (the one that has waited longest), or every one."
    )
    keep_hours: float = Field(
        default=24.0, ge=0, le=LONGEST_KEEP_HOURS, description="How long it is kept for steps that wait later."
    )
    key: str | None = Field(
        default=None,
        pattern=r"^[\x21-\x7e]+$",
        max_length=200,
        description="Two events of a space with the same key are one: within the keep time, and 24 hours at least.",
    )
    space_id: str | None = Field(
        default=None, max_length=36, description="Space of the waiting flows; your own by default."
    )


class SenderOut(BaseModel):
    """Who sent an event."""

    kind: str = Field(description="`user`, `key`, `command`, `system`, or `flow` for a step.")
    user_id: str | None = None
    name: str = ""
    run_id: str | None = None
    step_id: str | None = None


class SentEventOut(BaseModel):
    """An event, without its data."""

    id: str
    name: str
    correlation: str
    space_id: str
    deliver: Deliver
    status: EventState = Field(description="`kept`: a step that begins to wait receives it.")
    deliveries: int = Field(description="Number of steps that received it.")
    duplicate: bool = Field(default=False, description="Whether it had been sent before, with the same key.")
    size_bytes: int
    sha256: str = Field(description="SHA-256 of the canonical JSON (RFC 8785) of its data.")
    sender: SenderOut
    received_at: datetime
    keep_until: datetime


class EventWaitOut(BaseModel):
    """A step that waits for an event."""

    run_id: str
    step_id: str
    flow_id: str
    flow_name: str
    space_id: str
    name: str
    correlation: str
    since: datetime
    due_at: datetime | None = Field(description="When it stops waiting; null: never.")
