"""Responses on limits of runs and flows."""

from pydantic import BaseModel, ConfigDict

from headgate.features.runs.budgets.accounts import BudgetScope, Kind


class BudgetOut(BaseModel):
    """A budget and what is used of it."""

    model_config = ConfigDict(from_attributes=True)

    scope: BudgetScope
    """`run`: of the run or of one that started it; `day`: of a flow on the present day (UTC)."""
    owner_id: str
    """The run or the flow."""
    kind: Kind
    limit: float
    """US dollars, tokens or seconds."""
    used: float


class SlotOut(BaseModel):
    """A slot that a run, or a step of it, holds or waits for."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    """`flow:ID`, `key:SPACE:KEY` or `model:PROVIDER/NAME`."""
    step_id: str | None
    """The step; null: the run."""
    most: int
    """How many there are."""
    priority: int
    granted: bool
    ahead: int
    """How many wait for one before it."""


class RunLimitsOut(BaseModel):
    """What limits a run."""

    budgets: list[BudgetOut]
    priority: int
    slots: list[SlotOut]
    """Those of a run that is over may be listed until they are given to another."""


class FlowLimitsOut(BaseModel):
    """What limits the runs of a flow, as its draft says."""

    budgets: list[BudgetOut]
    """The daily budget; those of runs are counted for each run."""
    max_concurrent_runs: int | None
    running: int
    """Runs that hold a slot of the flow; 0 without a limit."""
    queued: int
    """Runs that wait for one."""
