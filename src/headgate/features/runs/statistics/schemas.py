"""What the API says of how runs go. Times are moments in UTC, durations milliseconds, prices US dollars."""

from datetime import datetime

from pydantic import BaseModel, Field


class Spent(BaseModel):
    """What models took."""

    calls: int = Field(description="Steps that asked a model.")
    tokens_input: int
    tokens_output: int
    usd: float = Field(description="Of the calls whose price is known.")
    unpriced: int = Field(description="Calls whose price is not known, and which `usd` leaves out.")


class Counted(BaseModel):
    """Runs of some time."""

    runs: int
    completed: int
    failed: int
    cancelled: int
    p50_ms: float | None = Field(description="Half of the runs that are over took no longer; null where none is.")
    p95_ms: float | None = Field(description="Nineteen of twenty took no longer.")
    spent: Spent


class Totals(Counted):
    """Runs of a whole period."""

    retries: int = Field(description="How often a step was tried again.")


class StatisticsPart(Counted):
    """Runs that began in one part of the period."""

    at: datetime = Field(description="When the part begins.")


class FlowFigures(BaseModel):
    """One of the busiest flows."""

    flow_id: str
    name: str
    runs: int
    failed: int
    p95_ms: float | None
    spent: Spent


class ModelFigures(BaseModel):
    """One of the models that were asked most."""

    provider: str
    name: str
    failed: int = Field(description="Steps that asked it and failed.")
    mean_ms: float = Field(description="How long its steps took.")
    spent: Spent


class FailureFigures(BaseModel):
    """Runs of one flow that failed for one reason."""

    code: str
    flow_id: str
    flow_name: str
    runs: int
    message: str = Field(description="What the newest of them said, its beginning.")
    run_id: str
    at: datetime


class RunStatistics(BaseModel):
    """How runs went in a period, and in the same time before it."""

    start: datetime
    end: datetime
    part_seconds: int
    now: Totals
    before: Totals
    parts: list[StatisticsPart]
    flows: list[FlowFigures]
    models: list[ModelFigures]
    failures: list[FailureFigures]
    queued: int = Field(description="Runs that wait, at this moment.")
    running: int
