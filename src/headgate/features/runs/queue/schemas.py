"""Responses on the queue."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Reason = Literal["limit", "worker", "no_worker", "draining", "paused"]
LimitKind = Literal["flow", "key", "model", "connection", "space", "tenant"]
PriorityClass = Literal["high", "normal", "low"]
Priority = Annotated[int, Field(ge=-100, le=100)]
_REASON = (
    "`limit`: a limit of its flow, a key, a model or a connection is reached. `worker`: workers are busy, or are about"
    " to claim it. `no_worker`: no server or worker executes runs. `draining`: all of them are drained."
)


class QueueGroup(BaseModel):
    """Runs of one flow and priority class that wait for the same reason, or that run."""

    space_id: str
    flow_id: str
    flow: str
    priority_class: PriorityClass = Field(description="`high` above 0, `low` below.")
    reason: Reason | None = Field(description=f"Why they wait; null: they run. {_REASON}")
    limit: str | None = Field(description="Name of the limit that they wait for.")
    count: int
    oldest_at: datetime = Field(description="Since when the first of them waits or runs.")


class QueuedRun(BaseModel):
    """A run that waits."""

    id: str
    space_id: str
    flow_id: str
    flow: str
    priority: int
    reason: Reason = Field(description=_REASON)
    limit: str | None = Field(description="Name of the limit that it waits for.")
    position: int | None = Field(
        description="Its place, from 1: exact at a limit; for a worker among the runs of its user in its space, since"
        " users, spaces and organisations take turns. Null: paused."
    )
    since: datetime
    may_change: bool = Field(description="Whether you may change its priority and cancel it.")
    of_step: bool = Field(description="A step of another run started it: it has the priority of that run.")


class QueueLimit(BaseModel):
    """A limit that is in use."""

    name: str = Field(
        description="`flow:ID`, `key:SPACE:KEY`, `model:PROVIDER/NAME`, `connection:ID`, `space:ID` or `tenant:ID`."
    )
    kind: LimitKind = Field(description="At `space` and `tenant`, new runs are refused and do not wait.")
    title: str
    flow_id: str | None = Field(default=None, description="The flow that has the limit in its settings.")
    most: int
    used: int
    waiting: int
    oldest_at: datetime | None


class QueueTenant(BaseModel):
    """The queue of an organisation, for admins of the installation: counts alone."""

    id: str
    name: str
    waiting: int
    running: int
    paused: int
    oldest_at: datetime | None = Field(description="Since when the first one waits; paused ones do not count.")


class QueueOut(BaseModel):
    """What waits and what runs, in the spaces whose runs the caller may view."""

    waiting: int
    running: int
    paused: int
    groups: list[QueueGroup] = Field(description="The largest first, at most 500.")
    runs: list[QueuedRun] = Field(description="The next of each limit and user first, at most 200; paused ones last.")
    limits: list[QueueLimit] = Field(description="The most waiting first, at most 200.")
    workers: int | None = Field(description="Processes that take runs; null: you do not manage the installation.")
    tenants: list[QueueTenant] = Field(description="All organisations with live runs, for admins of the installation.")
    more: bool = Field(description="Whether there are more groups than are listed: counts are the least.")


class PriorityIn(BaseModel):
    """The priority of a run."""

    model_config = ConfigDict(extra="forbid")

    priority: Priority = Field(description="Place among those that wait for a slot: the highest first.")


class PriorityOut(BaseModel):
    """The priority of a run."""

    id: str
    priority: int
