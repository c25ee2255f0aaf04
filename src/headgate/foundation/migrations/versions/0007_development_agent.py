"""Sessions of the development agent, their events and writes; patterns; Flowise servers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "codev_instances",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("key_variable", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_codev_instances_tenant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_codev_instances")),
    )
    op.create_table(
        "codev_patterns",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("domain", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("requirement", sa.Text(), nullable=False),
        sa.Column("definition", JSON, nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=True),
        sa.Column("success_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_codev_patterns_space_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_codev_patterns")),
    )
    op.create_index("ix_codev_patterns_tenant_id_domain", "codev_patterns", ["tenant_id", "domain"], unique=False)
    op.create_table(
        "codev_sessions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("domain", sa.String(length=40), nullable=False),
        sa.Column("instance_id", sa.String(length=100), nullable=False),
        sa.Column("requirement", sa.Text(), nullable=False),
        sa.Column("model", sa.String(length=300), nullable=False),
        sa.Column("flow_id", sa.String(length=100), nullable=True),
        sa.Column("flow_name", sa.String(length=300), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("phase", sa.String(length=30), nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("interrupt", JSON, nullable=True),
        sa.Column("answer", JSON, nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("stop_reason", sa.Text(), nullable=False),
        sa.Column("options", JSON, nullable=False),
        sa.Column("webhook_url", sa.Text(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("leased_by", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_codev_sessions_space_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_codev_sessions")),
    )
    op.create_index("ix_codev_sessions_status_lease_until", "codev_sessions", ["status", "lease_until"], unique=False)
    op.create_index(
        "ix_codev_sessions_tenant_id_created_at", "codev_sessions", ["tenant_id", "created_at"], unique=False
    )
    op.create_table(
        "codev_events",
        sa.Column("session_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["codev_sessions.id"], name=op.f("fk_codev_events_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "number", name=op.f("pk_codev_events")),
    )
    op.create_table(
        "codev_writes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=False),
        sa.Column("call_key", sa.String(length=200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("tool", sa.String(length=100), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("flow_id", sa.String(length=100), nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("after_mark", sa.String(length=64), nullable=True),
        sa.Column("answer", JSON, nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["codev_sessions.id"], name=op.f("fk_codev_writes_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_codev_writes")),
        sa.UniqueConstraint("call_key", name=op.f("uq_codev_writes_call_key")),
    )
    op.create_index("ix_codev_writes_session_id_number", "codev_writes", ["session_id", "number"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_codev_writes_session_id_number", table_name="codev_writes")
    op.drop_table("codev_writes")
    op.drop_table("codev_events")
    op.drop_index("ix_codev_sessions_tenant_id_created_at", table_name="codev_sessions")
    op.drop_index("ix_codev_sessions_status_lease_until", table_name="codev_sessions")
    op.drop_table("codev_sessions")
    op.drop_index("ix_codev_patterns_tenant_id_domain", table_name="codev_patterns")
    op.drop_table("codev_patterns")
    op.drop_table("codev_instances")
