"""Items of the attention list, and actions on them."""

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from headgate.features.flows.organization.schemas import BulkProblem
from headgate.features.runs.schemas import Identifier

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
]
NOBODY = "nobody"
"""As an assignee in a filter: items that are assigned to nobody."""
MOST_KEYS = 50


class AttentionItem(BaseModel):
    """Something that needs a human. What happens again is one item with a count."""

    key: str = Field(description="Identifies the item; the same as long as its cause is the same.")
    kind: Kind
    space_id: str | None = None
    flow_id: str | None = None
    name: str = Field(default="", description="Name of the flow, trigger, connection or alert rule.")
    step_id: str | None = Field(default=None, description="The step that failed.")
    code: str = Field(default="", description="Error code of failed runs; kind of the rule of an alert.")
    message: str = Field(default="", description="The latest error or the reason, shortened.")
    count: int = 1
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


AttentionAction = Literal["resume", "rerun", "cancel", "redeliver", "assign", "dismiss", "restore"]


class AttentionActionIn(BaseModel):
    """An action on one or several items."""

    model_config = ConfigDict(extra="forbid")

    action: AttentionAction = Field(
        description=(
            "`resume`: failed runs, paused triggers. `rerun`: failed runs. `cancel`: queued and stuck runs. "
            "`redeliver`: failed deliveries. `assign`: to a user, for everyone. `dismiss`, `restore`: for yourself."
        )
    )
    keys: list[str] = Field(min_length=1, max_length=MOST_KEYS)
    user_id: Identifier | None = Field(default=None, description="`assign`: to this user; omitted: to nobody.")
    until: AwareDatetime | None = Field(
        default=None, description="`dismiss`: mute until this time; omitted: until the item happens again."
    )
    published: bool = Field(
        default=False,
        description="`resume`, `rerun`: with the published version of the flow instead of that of the run.",
    )


class AttentionResult(BaseModel):
    """The result for one run, delivery, trigger or item."""

    key: str
    id: str = Field(description="The run, delivery or trigger; the key for an action on the item itself.")
    done: bool = Field(description="False when it was refused, or had no effect.")
    new_run_id: str | None = Field(default=None, description="The run that continues instead, or was started.")
    problem: BulkProblem | None = None


class AttentionResults(BaseModel):
    """One result each, by item; within an item the newest first."""

    items: list[AttentionResult]
    left: int = Field(description="Runs and deliveries beyond the limit of one request: repeat it.")
