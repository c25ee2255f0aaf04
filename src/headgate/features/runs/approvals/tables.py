"""Approvals that steps wait for, and the decisions of users on them. Times are microseconds in UTC."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Encrypted, Json, Row, TenantRow, of_tenant


class ApprovalRow(TenantRow):
    """What a step asks users to decide, one row per step and call of a tool. Pending ones end with their run."""

    __tablename__ = "approvals"
    __table_args__ = (
        UniqueConstraint("flow_run_id", "step_id", "round"),
        UniqueConstraint("id", "tenant_id"),
        Index("ux_approvals_scope", "flow_run_id", "step_id", "scope", unique=True),
        of_tenant("flow_run_id", "flow_runs"),
        CheckConstraint("status IN ('pending', 'approved', 'rejected', 'timed_out')", name="status_known"),
        Index("ix_approvals_tenant_id_status_id", "tenant_id", "status", "id"),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    flow_run_id: Mapped[str] = mapped_column(String(36))
    flow_id: Mapped[str] = mapped_column(String(36))
    step_id: Mapped[str] = mapped_column(String(64))
    round: Mapped[int]
    """Number of the question within the step."""
    scope: Mapped[str] = mapped_column(String(100), server_default=text("''"))
    """The tool call of the step that asks; empty where the step itself asks."""
    tool: Mapped[str] = mapped_column(String(255), server_default=text("''"))
    """Name of the tool, for approvals of its calls."""
    status: Mapped[str] = mapped_column(String(16))
    content: Mapped[bytes] = mapped_column(Encrypted)
    """Question, value, form and editable members as JSON."""
    content_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of the canonical JSON of what is shown."""
    classification: Mapped[int | None]
    """Of what is shown; null when classifications were disabled or the request is older than this column."""
    assignees: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """Objects with `user_id` and `name`, or `role`."""
    needed: Mapped[int]
    approvals: Mapped[int]
    """How many users have approved."""
    escalates_at: Mapped[int | None] = mapped_column(BigInteger)
    """From then on those of `escalation` may decide too."""
    escalation: Mapped[list[dict[str, Any]] | None] = mapped_column(Json)
    """Like `assignees`."""
    barred_user_id: Mapped[str | None] = mapped_column(String(36))
    """The user who started the run and may therefore not decide."""
    due_at: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[int] = mapped_column(BigInteger)
    decided_at: Mapped[int | None] = mapped_column(BigInteger)


class ApprovalDecisionRow(Row):
    """A user's decision on an approval; never changed."""

    __tablename__ = "approval_decisions"
    __table_args__ = (
        of_tenant("approval_id", "approvals"),
        CheckConstraint("decision IN ('approve', 'reject')", name="decision_known"),
    )

    approval_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_name: Mapped[str] = mapped_column(String(300))
    decision: Mapped[str] = mapped_column(String(16))
    response: Mapped[bytes] = mapped_column(Encrypted)
    """Comment, answers and edits as JSON."""
    response_hash: Mapped[str] = mapped_column(String(64))
    shown_hash: Mapped[str] = mapped_column(String(64))
    key_id: Mapped[str | None] = mapped_column(String(36))
    address: Mapped[str | None] = mapped_column(String(64))
    outside: Mapped[str | None] = mapped_column(String(200))
    """The outside reviewer who decided with a link of the user."""
    decided_at: Mapped[int] = mapped_column(BigInteger)


class ApprovalNoticeRow(JobColumns, TenantRow):
    """A notice of an approval by webhook, mail or chat, sent once when it is due and the approval is pending."""

    __tablename__ = "approval_notices"
    __table_args__ = (
        UniqueConstraint("approval_id", "number"),
        of_tenant("approval_id", "approvals"),
        CheckConstraint("kind IN ('asked', 'reminder', 'escalated')", name="kind_known"),
        CheckConstraint("status IN ('pending', 'delivered', 'failed', 'cancelled')", name="status_known"),
        *job_indexes("approval_notices"),
    )

    approval_id: Mapped[str] = mapped_column(String(36))
    number: Mapped[int]
    """From 0, in the order in which they were planned."""
    kind: Mapped[str] = mapped_column(String(16))
    connection: Mapped[str | None] = mapped_column(String(64))
    """Name of the connection that sends it by mail or chat; None for a webhook."""
    link_id: Mapped[str | None] = mapped_column(String(36))
    """The one-time link that it carries to an outside reviewer."""
    status: Mapped[str] = mapped_column(String(16))
    target: Mapped[bytes] = mapped_column(Encrypted)
    url_shown: Mapped[str] = mapped_column(Text)
    """The URL without confidential parts; the recipient of a one-time link."""
    idempotency_key: Mapped[str] = mapped_column(String(64))
    last_status: Mapped[int | None]
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(BigInteger)
    sent_at: Mapped[int | None] = mapped_column(BigInteger)


class ApprovalLinkRow(TenantRow):
    """A one-time link to decide an approval in place of the user who created it. Its token is stored as a hash."""

    __tablename__ = "approval_links"
    __table_args__ = (
        UniqueConstraint("token_hash"),
        Index("ix_approval_links_approval_id", "approval_id"),
        of_tenant("approval_id", "approvals"),
    )

    approval_id: Mapped[str] = mapped_column(String(36))
    token_hash: Mapped[str] = mapped_column(String(64))
    recipient: Mapped[str] = mapped_column(String(200))
    user_id: Mapped[str] = mapped_column(String(36))
    """The user who created it."""
    created_at: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[int] = mapped_column(BigInteger)
    used_at: Mapped[int | None] = mapped_column(BigInteger)
