"""API schemas of approvals."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from headgate.graph.json_values import PlainObject, PlainText
from headgate.graph.model import FormField

ApprovalState = Literal["pending", "approved", "rejected", "timed_out", "closed"]
ApprovalFilter = Literal["pending", "approved", "rejected", "timed_out", "closed", "decided"]
"""A state, or `decided`: every state but `pending`."""
Refusal = Literal["over", "timed_out", "no_permission", "starter", "not_assigned", "already_decided"]


class DecisionIn(BaseModel):
    """A user's decision."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "reject"]
    comment: PlainText = Field(default="", max_length=10_000)
    answers: PlainObject = Field(default_factory=dict, max_length=20, description="Id of a form field to its answer.")
    edits: dict[str, PlainText] = Field(
        default_factory=dict, max_length=100, description="Changed members of the value; `*` is a changed text."
    )
    content_hash: str = Field(
        default="", max_length=64, description="`content_hash` of what was shown; a decision on other content fails."
    )


class DecisionItem(DecisionIn):
    """A user's decision on one of several approvals."""

    approval_id: str = Field(max_length=36)


class DecisionsIn(BaseModel):
    """Decisions on several approvals."""

    model_config = ConfigDict(extra="forbid")

    decisions: list[DecisionItem] = Field(min_length=1, max_length=100)


class DecisionProblem(BaseModel):
    """Why a decision was refused, as the problem document of a single decision."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    remedy: str = ""
    permission: str | None = None
    """The permission that the caller lacks; null for other reasons."""


class DecisionResult(BaseModel):
    """What became of one of several decisions."""

    approval_id: str
    stored: bool
    status: ApprovalState | None
    """State of the approval after the decision; null when the decision was refused."""
    problem: DecisionProblem | None
    """Why the decision was refused."""


class DecisionsOut(BaseModel):
    """One result per decision, in their order."""

    items: list[DecisionResult]


class ReviewLinkIn(BaseModel):
    """For whom a one-time link is, and how long it can be used."""

    model_config = ConfigDict(extra="forbid")

    recipient: PlainText = Field(min_length=1, max_length=200, description="Name or address of the outside reviewer.")
    hours: float = Field(default=72.0, gt=0, le=720, allow_inf_nan=False)
    send: bool = Field(
        default=False, description="Send it to the recipient, a mail address, by the notice connection of the approval."
    )


class ReviewLinkOut(BaseModel):
    """A one-time link, without its token."""

    id: str
    recipient: str
    user_id: str
    """The user who created it; its decision takes the place of that user's own."""
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None


class ReviewLinksOut(BaseModel):
    """The links of an approval, oldest first."""

    items: list[ReviewLinkOut]


class NewReviewLinkOut(ReviewLinkOut):
    """A new link. Its address is shown once."""

    url: str


class ReviewTokenIn(BaseModel):
    """The token of a one-time link."""

    model_config = ConfigDict(extra="forbid")

    token: PlainText = Field(min_length=1, max_length=100)


class ReviewDecisionIn(DecisionIn):
    """The decision of the holder of a link."""

    token: PlainText = Field(min_length=1, max_length=100)
    content_hash: str = Field(max_length=64, min_length=1, description="`content_hash` of what was shown.")


class ReviewOut(BaseModel):
    """What the holder of a link decides."""

    recipient: str
    flow_name: str
    question: str
    tool: str
    value: JsonValue
    questions: list[FormField]
    editable: list[str]
    content_hash: str
    expires_at: datetime


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
    answers: dict[str, JsonValue]
    edits: dict[str, str]
    shown_hash: str
    outside: str
    """The outside reviewer who decided with a link of the user; empty where the user decided."""
    decided_at: datetime


class NoticeOut(BaseModel):
    """A notice by webhook, mail or chat: the request, a reminder or the escalation."""

    kind: Literal["asked", "reminder", "escalated"]
    status: Literal["pending", "delivered", "failed", "cancelled"]
    """`cancelled`: the approval was decided before it was due."""
    url: str
    """Web address without path and query; empty for mail and chat."""
    connection: str
    """Name of the connection that sends it by mail or chat; empty for a webhook."""
    recipient: str
    """The outside reviewer whose one-time link it carries; empty for users."""
    due_at: datetime | None
    """Null once nothing more is sent."""
    sent_at: datetime | None
    error: str


class ApprovalSummary(BaseModel):
    """An approval in a list."""

    id: str
    run_id: str
    flow_id: str
    flow_name: str
    step_id: str
    space_id: str
    status: ApprovalState
    """`closed`: the run ended without a decision."""
    question: str
    tool: str
    """Name of the tool of an agent whose call is asked for; empty for other questions."""
    content_hash: str
    starter_id: str | None
    """The user who started the run; null for a visitor and a deleted user."""
    starter_name: str
    not_starter: bool
    """Whether the user who started the run may not decide."""
    assignees: list[AssigneeOut]
    """Who may decide now; none: every user who may run the flow."""
    escalation: list[AssigneeOut]
    """Who may decide from `escalates_at`, too."""
    escalates_at: datetime | None
    needed: int
    approvals: int
    can_decide: bool
    """Whether the caller may decide now."""
    refusal: Refusal | None
    """Why the caller may not decide now."""
    created_at: datetime
    due_at: datetime | None
    decided_at: datetime | None


class ApprovalOut(ApprovalSummary):
    """An approval that a step waits for, or waited for."""

    value: JsonValue
    questions: list[FormField]
    editable: list[str]
    decisions: list[DecisionOut]
    notices: list[NoticeOut]


class PendingCount(BaseModel):
    """How many approvals wait for the caller."""

    pending: int = Field(description="At most 100.")
