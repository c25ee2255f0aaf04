"""Response bodies of the list of flows."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from headgate.features.flows.summaries import FlowSummary
from headgate.features.runs.schemas import RunState
from headgate.graph.model import Edge, Position

SortKey = Literal["created", "updated", "name"]
MOST_SKETCHED = 80
"""Most nodes in a thumbnail."""


class SketchNode(BaseModel):
    """A node of a thumbnail."""

    id: str
    type: str
    label: str
    position: Position


class Sketch(BaseModel):
    """A flow as a thumbnail: no values, no code."""

    nodes: list[SketchNode]
    edges: list[Edge]


class LastRun(BaseModel):
    """The newest run of a flow."""

    id: str
    status: RunState
    version: int
    created_at: datetime
    finished_at: datetime | None
    ms: float | None


class FlowItem(FlowSummary):
    """A flow in the list."""

    release: int | None
    """Number of the published release: the N of vN."""
    changed_since: bool
    """Whether the draft differs from the published version."""
    problems: int
    """Number of problems that prevent a run of the draft."""
    steps: int
    """Nodes on the canvas."""
    icon: str
    updated_by: str | None = Field(description="User who last changed it, by name.")
    tags: list[str]
    favourite: bool
    """Whether it is a favourite of the caller."""
    deleted_at: datetime | None
    """When it was moved to the trash; null for a flow that is not in it."""
    last_run: LastRun | None
    sketch: Sketch | None
    """None for a flow that is too large for a thumbnail."""
