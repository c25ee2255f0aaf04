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


class RunLimitsOut(BaseModel):
    """What limits a run."""

    budgets: list[BudgetOut]


class FlowLimitsOut(BaseModel):
    """What limits the runs of a flow, as its draft says."""

    budgets: list[BudgetOut]
    """The daily budget; those of runs are counted for each run."""
