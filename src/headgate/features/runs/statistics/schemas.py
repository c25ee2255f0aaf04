"""Response bodies of run statistics. Times are in UTC, durations in milliseconds, prices in US dollars."""

from datetime import datetime

from pydantic import BaseModel, Field


class Spent(BaseModel):
    """Usage and cost of models."""

    calls: int = Field(description="Steps that called a model.")
    tokens_input: int
    tokens_output: int
    usd: float = Field(description="Cost of the calls with a known price.")
    unpriced: int = Field(description="Calls without a known price, which `usd` does not include.")


class Counted(BaseModel):
    """Number of runs by outcome."""

    runs: int
    completed: int
    failed: int
    cancelled: int
    p50_ms: float | None = Field(
        description="Median duration of ended runs, waits and pauses included; null without any."
    )
    p95_ms: float | None = Field(description="95th percentile.")
    spent: Spent


class Totals(Counted):
    """Totals of a period."""

    retries: int = Field(description="Number of retried attempts.")


class StatisticsPart(Counted):
    """Runs that started in one part of the period."""

    at: datetime = Field(description="Start of the interval.")


class FlowFigures(BaseModel):
    """Statistics of one of the busiest flows."""

    flow_id: str
    name: str
    runs: int
    failed: int
    p95_ms: float | None
    spent: Spent


class ModelFigures(BaseModel):
    """Statistics of one of the most used models."""

    provider: str
    name: str
    failed: int = Field(description="Steps that called it and failed.")
    mean_ms: float = Field(description="Duration of its steps.")
    spent: Spent


class FailureFigures(BaseModel):
    """Failed runs of one flow with the same reason."""

    code: str
    flow_id: str
    flow_name: str
    runs: int
    message: str = Field(description="Beginning of the latest error message.")
    run_id: str
    at: datetime


class RunStatistics(BaseModel):
    """Statistics of a period and of the preceding one."""

    start: datetime
    end: datetime
    part_seconds: int
    now: Totals
    before: Totals
    parts: list[StatisticsPart]
    flows: list[FlowFigures]
    models: list[ModelFigures]
    failures: list[FailureFigures]
    queued: int = Field(description="Runs that no worker has started yet.")
    running: int
    waiting: int = Field(description="Runs that wait for a time, an approval, an event, another run or a slot.")
    paused: int
