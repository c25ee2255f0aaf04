"""Items of the attention list."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

Kind = Literal[
    "failed_runs",
    "queued_runs",
    "stuck_runs",
    "failed_deliveries",
    "approvals",
    "trigger",
    "failing_trigger",
    "connection",
    "expiry",
    "budget",
    "alert",
    "dead_worker",
]
NOBODY = "nobody"
"""As an assignee in a filter: items that are assigned to nobody."""


class AttentionItem(BaseModel):
    """Something that needs a human. What happens again is one item with a count."""

    key: str = Field(description="Identifies the item; the same as long as its cause is the same.")
    kind: Kind
    space_id: str | None = None
    flow_id: str | None = None
    name: str = Field(default="", description="Name of the flow, trigger, connection or alert rule; host of a process.")
    step_id: str | None = Field(default=None, description="The step that failed.")
    code: str = Field(
        default="", description="Error code of failed runs; kind of the rule of an alert; `server` or `worker`."
    )
    message: str = Field(default="", description="The latest error or the reason, shortened.")
    count: int = 1
    counts_more: bool = Field(
        default=False, description="Whether more runs have failed than are counted: the count is the least."
    )
    first_at: datetime | None = None
    last_at: datetime | None = None
    since_release: int | None = Field(default=None, description="First published release that failed like this.")
    run_id: str | None = Field(default=None, description="The latest run.")
    dismissed: bool = False
    muted_until: datetime | None = Field(default=None, description="Until when you have muted it.")
    assignee_id: str | None = None
    assignee: str | None = Field(default=None, description="Name of the user to whom it is assigned.")


class AttentionOut(BaseModel):
    """What needs a human, the latest first."""

    items: list[AttentionItem]
    open: int = Field(description="Items of the filter that are not dismissed.")
    more: list[Kind] = Field(
        default_factory=list, description="Kinds with older items than those listed: narrow the filter to see them."
    )
