"""What the list of flows answers."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from headgate.features.flows.summaries import FlowSummary
from headgate.features.runs.schemas import RunState
from headgate.graph.model import Edge, Position

SortKey = Literal["created", "updated", "name"]
MOST_SKETCHED = 80
"""Nodes that a small picture has room for."""


class SketchNode(BaseModel):
    """A node of a small picture."""

    id: str
    type: str
    label: str
    position: Position


class Sketch(BaseModel):
    """A flow as a small picture needs it: no values, no code."""

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
    """The number of the release that is published: the N of vN."""
    changed_since: bool
    """Whether the draft is another than what is published."""
    problems: int
    """How many things keep the draft from running."""
    steps: int
    """Nodes on the canvas."""
    icon: str
    updated_by: str | None = Field(description="Who changed it last, by name.")
    last_run: LastRun | None
    sketch: Sketch | None
    """None for a flow that is too large for a small picture."""
