"""API schemas of approvals."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from headgate.graph.json_values import PlainText

ApprovalState = Literal["pending", "approved", "rejected", "timed_out", "closed"]


class DecisionIn(BaseModel):
    """A user's decision."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "reject"]
    comment: PlainText = Field(default="", max_length=10_000)
    answers: dict[str, PlainText] = Field(default_factory=dict, max_length=20, description="Question to answer.")
    edits: dict[str, PlainText] = Field(
        default_factory=dict, max_length=100, description="Changed members of the value; `*` is a changed text."
    )
    content_hash: str = Field(
        default="", max_length=64, description="`content_hash` of what was shown; a decision on other content fails."
    )


class AssigneeOut(BaseModel):
    """A user, or the users with a role of the space."""

    user_id: str | None = None
    name: str = ""
    role: str | None = None


class DecisionOut(BaseModel):
    """A decision."""

    user_id: str
    user_name: str
    decision: Literal["approve", "reject"]
    comment: str
    answers: dict[str, str]
    edits: dict[str, str]
    shown_hash: str
    decided_at: datetime


class ApprovalOut(BaseModel):
    """An approval that a step waits for, or waited for."""

    id: str
    run_id: str
    flow_id: str
    flow_name: str
    step_id: str
    space_id: str
    status: ApprovalState
    """`closed`: the run ended without a decision."""
    question: str
    value: JsonValue
    questions: list[str]
    editable: list[str]
    content_hash: str
    assignees: list[AssigneeOut]
    needed: int
    approvals: int
    can_decide: bool
    """Whether the caller may decide now."""
    created_at: datetime
    due_at: datetime | None
    decided_at: datetime | None
    decisions: list[DecisionOut]


class PendingCount(BaseModel):
    """How many approvals wait for the caller."""

    pending: int
