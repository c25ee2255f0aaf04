"""Actions on items of the attention list, and their results."""

from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from headgate.features.flows.organization.schemas import BulkProblem
from headgate.features.runs.schemas import Identifier

MOST_KEYS = 50
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
