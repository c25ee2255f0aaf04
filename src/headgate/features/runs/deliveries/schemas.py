"""Request and response bodies of deliveries."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_REDELIVERED = 500
"""Most deliveries that one request sends again."""
DeliveryId = Annotated[str, Field(max_length=36)]
DeliveryState = Literal["pending", "delivering", "delivered", "failed", "cancelled"]


class DeliveryError(BaseModel):
    """Why an attempt failed."""

    code: str
    message: str


class DeliveryAttemptOut(BaseModel):
    """One request to the receiver."""

    attempt_no: int
    status_code: int | None
    error: DeliveryError | None
    started_at: datetime
    finished_at: datetime | None


class DeliveryOut(BaseModel):
    """The delivery of a step's output (`output_mode` `http_post`)."""

    id: str
    run_id: str
    flow_id: str
    step_id: str
    url: str
    """The receiver. Path and query are never shown, since they may contain a secret."""
    status: DeliveryState
    webhook_delivered: bool
    webhook_error: DeliveryError | None
    idempotency_key: str
    """sha256 of run and step id: sent as `Idempotency-Key` and `webhook-id`, the same at every attempt."""
    last_status: int | None
    """HTTP status of the last response."""
    created_at: datetime
    delivered_at: datetime | None
    next_attempt_at: datetime | None
    """Time of the next attempt; null once it is delivered, failed or cancelled."""
    attempts: list[DeliveryAttemptOut]


class RedeliverIn(BaseModel):
    """Selects the deliveries to send again: without ids and flow, all failed ones."""

    model_config = ConfigDict(extra="forbid")

    ids: list[DeliveryId] | None = Field(default=None, min_length=1, max_length=MOST_REDELIVERED)
    flow_id: DeliveryId | None = None


class RedeliveredMany(BaseModel):
    """The deliveries that will be sent again."""

    ids: list[str]


class RedeliveredOut(BaseModel):
    """The outcome of a request to deliver again."""

    deliveries: list[DeliveryOut] = Field(description="The deliveries that are retried, in their current state.")
