"""What a list of runs shows in addition to a run itself."""

from pydantic import BaseModel

from headgate.features.runs.waiting import WaitReason


class RunTriggerOut(BaseModel):
    """The trigger and the occurrence that started a run, as they were then."""

    id: str
    name: str
    kind: str
    occurrence_id: str
    due_at: str | None = None
    """When a schedule was due, ISO 8601 in its time zone."""
    key: str | None = None
    """The key of the event."""


class RunDetails(BaseModel):
    """What a list of runs shows in addition."""

    flow: str
    """Name of the flow."""
    release: int | None
    """Number of the release, the N of vN; null for a version that was not published."""
    trigger: RunTriggerOut | None
    """Null for a run that no trigger started."""
    owner_id: str | None
    owner: str | None
    """Owner of the flow, by name."""
    tags: list[str]
    """Tags of the flow."""
    cost_usd: float
    """Cost of its model calls, at the organisation's prices or list prices."""
    unpriced: int
    """Model calls whose price or usage is unknown: the cost excludes them."""
    waits_for: list[WaitReason] = []
    """What its waiting steps wait for, each once; empty for a run that does not wait."""
