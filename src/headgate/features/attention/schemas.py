"""Items of the attention list."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal[
    "failed_runs",
    "queued_runs",
    "failed_deliveries",
    "approvals",
    "trigger",
    "failing_trigger",
    "connection",
    "expiry",
    "alert",
]


class AttentionItem(BaseModel):
    """Something that needs a human. What happens again is one item with a count."""

    key: str = Field(description="Identifies the item; the same as long as its cause is the same.")
    kind: Kind
    space_id: str | None = None
    flow_id: str | None = None
    name: str = Field(default="", description="Name of the flow, trigger, connection or alert rule.")
    code: str = Field(default="", description="Error code of failed runs; kind of the rule of an alert.")
    message: str = Field(default="", description="The latest error or the reason, shortened.")
    count: int = 1
    first_at: datetime | None = None
    last_at: datetime | None = None
    since_release: int | None = Field(default=None, description="First published release that failed like this.")
    run_id: str | None = Field(default=None, description="The latest run.")
    dismissed: bool = False


class AttentionOut(BaseModel):
    """What needs a human, the latest first."""

    items: list[AttentionItem]
    open: int = Field(description="Items that are not dismissed.")


class DismissIn(BaseModel):
    """Dismiss an item, or show it again."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(min_length=1, max_length=160)
    dismissed: bool = True
