"""API schemas of service level objectives."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.foundation.names import Name

SloKind = Literal["success", "latency"]
SloRuns = Literal["all", "published", "triggers"]
WindowDays = Literal[7, 28, 30]
_KIND = "`success`: runs that complete. `latency`: completed runs that end within `seconds` of their creation."
_RUNS = "Which runs count: `all`, those of `published` versions, or those that `triggers` started."
_BURN = "1 uses exactly the error budget in one window; null without runs."
SloName = Annotated[Name, Field(max_length=120)]
Target = Annotated[float, Field(ge=50, le=99.999, allow_inf_nan=False, description="Percent of runs that are good.")]


class SloIn(BaseModel):
    """A new objective of a flow."""

    model_config = ConfigDict(extra="forbid")

    name: SloName
    kind: SloKind = Field(description=_KIND)
    target: Target = 99
    seconds: float | None = Field(default=None, gt=0, le=10_000_000, allow_inf_nan=False)
    window_days: WindowDays = 28
    runs: SloRuns = Field(default="published", description=_RUNS)


class SloPatch(BaseModel):
    """Changes of an objective; omitted members stay. What it counts stays: add another one instead."""

    model_config = ConfigDict(extra="forbid")

    name: SloName | None = None
    target: Target | None = None
    window_days: WindowDays | None = None


class BurnRates(BaseModel):
    """How fast the error budget is used, over the time up to now."""

    minutes_5: float | None = Field(description=_BURN)
    minutes_30: float | None = Field(description=_BURN)
    hour_1: float | None = Field(description=_BURN)
    hours_6: float | None = Field(description=_BURN)
    days_3: float | None = Field(description=_BURN)


class SloOut(BaseModel):
    """An objective and how well it is met."""

    id: str
    name: str
    flow_id: str
    flow_name: str
    space_id: str
    kind: SloKind = Field(description=_KIND)
    runs: SloRuns = Field(description=_RUNS)
    target: float = Field(description="Percent of runs that are to be good.")
    seconds: float | None
    window_days: WindowDays
    total: int = Field(description="Runs that ended in the window and count.")
    good: int
    attained: float | None = Field(description="Percent of good runs in the window; null without runs.")
    budget_left: float = Field(description="Percent of the error budget that is left; negative when it is exceeded.")
    burn: BurnRates
    created_at: datetime
    updated_at: datetime


class SloPart(BaseModel):
    """One part of the window."""

    at: datetime = Field(description="Start of the part.")
    total: int
    good: int
    budget_left: float = Field(
        description="Percent of the error budget of the window that is left at the end of the part."
    )


class SloDetail(SloOut):
    """An objective with its window over time."""

    parts: list[SloPart]
