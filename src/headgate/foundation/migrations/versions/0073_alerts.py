"""Rules of alerts, alerts, notices of them, and their evaluations."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0073"
down_revision = "0072"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")


def upgrade() -> None:
    op.create_table(
        "alert_rules",
        *_strings(id=36, tenant_id=36, name=120, kind=16, language=2),
        *_strings(nullable=True, space_id=36, flow_id=36, connection_id=36, escalation_connection_id=36),
        *_strings(nullable=True, created_by_user_id=36),
        sa.Column("threshold", sa.Float(), nullable=False),
        *_numbers("window_seconds", "quiet_seconds", "created_at", "updated_at"),
        *_numbers("escalation_seconds", "muted_until", "notified_at", "fired_at", nullable=True),
        sa.Column("fewest_runs", sa.Integer(), nullable=False),
        sa.Column("notices", sa.Integer(), nullable=False),
        sa.Column("recipients", JSON, nullable=False),
        sa.Column("escalation_recipients", JSON, nullable=False),
        sa.Column("webhook", sa.LargeBinary()),
        sa.Column("webhook_shown", sa.Text(), nullable=False),
        sa.Column("notify_resolved", sa.Boolean(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('failure', 'failure_rate', 'slow', 'silent', 'cost', 'queue', 'budget')",
            name=op.f("ck_alert_rules_kind_known"),
        ),
        _parent("alert_rules", "tenants", "tenant_id"),
        _parent("alert_rules", "spaces", "space_id", "tenant_id"),
        _parent("alert_rules", "flows", "flow_id", "tenant_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rules")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_alert_rules_id_tenant_id")),
    )
    op.create_index("ix_alert_rules_tenant_id_id", "alert_rules", ["tenant_id", "id"])
    op.create_table(
        "alerts",
        *_strings(id=36, tenant_id=36, rule_id=36, subject=36, name=200, state=16, pending=16),
        *_strings(nullable=True, space_id=36, acknowledged_by_user_id=36),
        sa.Column("value", sa.Float(), nullable=False),
        *_numbers("opened_at", "seen_at"),
        *_numbers("resolved_at", "acknowledged_at", "escalated_at", nullable=True),
        sa.CheckConstraint("state IN ('open', 'acknowledged', 'resolved')", name=op.f("ck_alerts_state_known")),
        sa.CheckConstraint("pending IN ('', 'opened', 'resolved')", name=op.f("ck_alerts_pending_known")),
        _parent("alerts", "alert_rules", "rule_id", "tenant_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
        sa.UniqueConstraint("rule_id", "subject", "opened_at", name=op.f("uq_alerts_rule_id_subject_opened_at")),
    )
    _index("ux_alerts_open", "alerts", "rule_id", "subject", where="state <> 'resolved'", unique=True)
    _index("ix_alerts_tenant_open", "alerts", "tenant_id", where="state <> 'resolved'")
    _index("ix_alerts_pending", "alerts", "tenant_id", where="pending <> ''")
    op.create_index("ix_alerts_rule_id_id", "alerts", ["rule_id", "id"])
    op.create_index("ix_alerts_resolved_at", "alerts", ["resolved_at"])
    op.create_table(
        "alert_notices",
        *_strings(id=36, tenant_id=36, rule_id=36, channel=16, kind=16, status=16, idempotency_key=64),
        *_strings(nullable=True, error_code=64),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", JSON, nullable=False),
        sa.Column("last_status", sa.Integer()),
        sa.Column("error_message", sa.Text()),
        *_numbers("created_at"),
        *_numbers("sent_at", nullable=True),
        *_job(),
        sa.CheckConstraint("kind IN ('opened', 'resolved', 'escalated')", name=op.f("ck_alert_notices_kind_known")),
        sa.CheckConstraint(
            "channel IN ('connection', 'webhook', 'escalation')", name=op.f("ck_alert_notices_channel_known")
        ),
        sa.CheckConstraint("status IN ('pending', 'delivered', 'failed')", name=op.f("ck_alert_notices_status_known")),
        _parent("alert_notices", "alert_rules", "rule_id", "tenant_id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_notices")),
        sa.UniqueConstraint("rule_id", "number", "channel", name=op.f("uq_alert_notices_rule_id_number_channel")),
    )
    op.create_index("ix_alert_notices_rule_id_id", "alert_notices", ["rule_id", "id"])
    op.create_table(
        "alert_evaluations",
        *_strings(tenant_id=36),
        *_numbers("evaluated_at", "steady_since", nullable=True),
        *_job(),
        _parent("alert_evaluations", "tenants", "tenant_id"),
        sa.PrimaryKeyConstraint("tenant_id", name=op.f("pk_alert_evaluations")),
    )
    for table in ("alert_notices", "alert_evaluations"):
        _index(f"ix_{table}_due", table, "due_at", where="worker_id IS NULL AND due_at IS NOT NULL")
        _index(f"ix_{table}_claimed", table, "worker_id", where="worker_id IS NOT NULL")
        _index(f"ix_{table}_event", table, "event", where="event IS NOT NULL")
    _KEYS.guard("alert_rules", "webhook", is_text=False)


def _strings(*, nullable: bool = False, **lengths: int) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(length=length), nullable=nullable) for name, length in lengths.items()]


def _numbers(*names: str, nullable: bool = False) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=nullable) for name in names]


def _job() -> list[sa.Column[int] | sa.Column[str]]:
    return [
        *_numbers("due_at", "lease_until", nullable=True),
        *_strings(nullable=True, event=200, worker_id=64),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
    ]


def _parent(table: str, parent: str, *columns: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{'_'.join(columns)}_{parent}")
    ids = ["id", *columns[1:]]
    return sa.ForeignKeyConstraint(
        list(columns), [f"{parent}.{column}" for column in ids], name=name, ondelete="CASCADE"
    )


def _index(name: str, table: str, *columns: str, where: str, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, list(columns), unique=unique, sqlite_where=condition, postgresql_where=condition)


def downgrade() -> None:
    for table in ("alert_evaluations", "alert_notices", "alerts", "alert_rules"):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION alert_rules_webhook_key()")
