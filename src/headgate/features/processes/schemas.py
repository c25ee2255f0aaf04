"""API schemas of processes."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.processes.heartbeat import Kind

MOST_SECONDS = 86_400.0
ProcessState = Literal["running", "draining", "drained", "dead"]


class ProcessOut(BaseModel):
    """A server, or a worker with its children."""

    id: str
    kind: Kind
    state: ProcessState = Field(
        description="`draining`: takes no new work and finishes what it has. `drained`: has none left and may be"
        " stopped. `dead`: its heartbeat stopped, and it was not stopped in order."
    )
    host: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime
    work: dict[str, int] = Field(description="What it works on: number of `runs`, and of jobs by kind.")
    draining_at: datetime | None = Field(description="Since when it is drained.")
    hand_over_at: datetime | None = Field(
        description="From then on it begins no further step: other processes continue its runs. Null: never."
    )


class DrainIn(BaseModel):
    """How a process is drained."""

    model_config = ConfigDict(extra="forbid")

    hand_over_seconds: float | None = Field(
        default=None,
        ge=0,
        le=MOST_SECONDS,
        description="After this time it hands its runs over at the next step boundary. Omitted: it finishes them.",
    )
