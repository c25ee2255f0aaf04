"""Rules of alerts, alerts, notices of them, and when each organisation was evaluated. Times are microseconds in UTC."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Float, ForeignKey, Index, String, Text
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Encrypted, Json, Row, TenantRow, of_tenant, partial_index

OPEN = "state <> 'resolved'"


class AlertRuleRow(Row):
    """A condition on the runs of a flow, of a space, or of the organisation, and who is notified."""

    __tablename__ = "alert_rules"
    __table_args__ = (
        Unique("id", "tenant_id"),
        of_tenant("space_id", "spaces"),
        of_tenant("flow_id", "flows"),
        CheckConstraint(
            "kind IN ('failure', 'failure_rate', 'slow', 'silent', 'cost', 'queue', 'budget', 'burn_fast',"
            " 'burn_slow', 'dead_worker')",
            name="kind_known",
        ),
        Index("ix_alert_rules_tenant_id_id", "tenant_id", "id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    space_id: Mapped[str | None] = mapped_column(String(36))
    """None: the whole organisation."""
    flow_id: Mapped[str | None] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(120))
    kind: Mapped[str] = mapped_column(String(16))
    threshold: Mapped[float] = mapped_column(Float)
    """Runs, percent, seconds, US dollars or a burn rate: `schemas.THRESHOLDS`."""
    window_seconds: Mapped[int] = mapped_column(BigInteger)
    fewest_runs: Mapped[int]
    connection_id: Mapped[str | None] = mapped_column(String(36))
    """Without a foreign key: the rule outlives it, and its notices fail with the reason."""
    recipients: Mapped[list[str]] = mapped_column(Json, default=list)
    webhook: Mapped[bytes | None] = mapped_column(Encrypted)
    webhook_shown: Mapped[str] = mapped_column(Text, default="")
    """The URL without confidential parts."""
    escalation_seconds: Mapped[int | None] = mapped_column(BigInteger)
    escalation_connection_id: Mapped[str | None] = mapped_column(String(36))
    escalation_recipients: Mapped[list[str]] = mapped_column(Json, default=list)
    quiet_seconds: Mapped[int] = mapped_column(BigInteger)
    """Least time between two notices of the rule."""
    notify_resolved: Mapped[bool]
    language: Mapped[str] = mapped_column(String(2))
    enabled: Mapped[bool]
    muted_until: Mapped[int | None] = mapped_column(BigInteger)
    notices: Mapped[int]
    """How many were made: the number of the last."""
    notified_at: Mapped[int | None] = mapped_column(BigInteger)
    fired_at: Mapped[int | None] = mapped_column(BigInteger)
    created_by_user_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[int] = mapped_column(BigInteger)


class AlertRow(TenantRow):
    """A condition that held, from when to when. At most one of a rule and subject is not resolved."""

    __tablename__ = "alerts"
    __table_args__ = (
        Unique("rule_id", "subject", "opened_at"),
        of_tenant("rule_id", "alert_rules"),
        CheckConstraint("state IN ('open', 'acknowledged', 'resolved')", name="state_known"),
        CheckConstraint("pending IN ('', 'opened', 'resolved')", name="pending_known"),
        partial_index("ux_alerts_open", "rule_id", "subject", where=OPEN, unique=True),
        partial_index("ix_alerts_tenant_open", "tenant_id", where=OPEN),
        partial_index("ix_alerts_pending", "tenant_id", where="pending <> ''"),
        Index("ix_alerts_rule_id_id", "rule_id", "id"),
        Index("ix_alerts_resolved_at", "resolved_at"),
    )

    rule_id: Mapped[str] = mapped_column(String(36))
    subject: Mapped[str] = mapped_column(String(36))
    """The flow; empty for all that the rule covers."""
    space_id: Mapped[str | None] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(200))
    """Name of the flow when it was opened."""
    state: Mapped[str] = mapped_column(String(16))
    value: Mapped[float] = mapped_column(Float)
    """The latest, in the unit of the rule's threshold."""
    opened_at: Mapped[int] = mapped_column(BigInteger)
    seen_at: Mapped[int] = mapped_column(BigInteger)
    """When the value last changed."""
    resolved_at: Mapped[int | None] = mapped_column(BigInteger)
    acknowledged_at: Mapped[int | None] = mapped_column(BigInteger)
    acknowledged_by_user_id: Mapped[str | None] = mapped_column(String(36))
    escalated_at: Mapped[int | None] = mapped_column(BigInteger)
    pending: Mapped[str] = mapped_column(String(16))
    """What the next notice of its rule reports of it."""


class AlertNoticeRow(JobColumns, TenantRow):
    """A notice of the alerts of one rule, through one channel."""

    __tablename__ = "alert_notices"
    __table_args__ = (
        Unique("rule_id", "number", "channel"),
        of_tenant("rule_id", "alert_rules"),
        CheckConstraint("kind IN ('opened', 'resolved', 'escalated')", name="kind_known"),
        CheckConstraint("channel IN ('connection', 'webhook', 'escalation')", name="channel_known"),
        CheckConstraint("status IN ('pending', 'delivered', 'failed')", name="status_known"),
        Index("ix_alert_notices_rule_id_id", "rule_id", "id"),
        *job_indexes("alert_notices"),
    )

    rule_id: Mapped[str] = mapped_column(String(36))
    number: Mapped[int]
    channel: Mapped[str] = mapped_column(String(16))
    kind: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    content: Mapped[dict[str, Any]] = mapped_column(Json)
    """`letters.Content`: names and values, never an error message or content of a run."""
    idempotency_key: Mapped[str] = mapped_column(String(64))
    last_status: Mapped[int | None]
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(BigInteger)
    sent_at: Mapped[int | None] = mapped_column(BigInteger)


class AlertEvaluationRow(JobColumns, Row):
    """The evaluation of all rules of an organisation: a job that is due every minute once it had a rule."""

    __tablename__ = "alert_evaluations"
    __table_args__ = job_indexes("alert_evaluations")

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    evaluated_at: Mapped[int | None] = mapped_column(BigInteger)
    steady_since: Mapped[int | None] = mapped_column(BigInteger)
    """Since when evaluations have followed each other without a gap."""
