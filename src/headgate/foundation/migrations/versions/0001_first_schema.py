"""First schema."""

import time

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "tenants",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_users_tenant_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_users_id_tenant_id")),
    )
    op.create_table(
        "variables",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("token", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_variables_tenant_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "name", name=op.f("pk_variables")),
    )
    op.create_table(
        "files",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("media_type", sa.String(length=255), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("owner_user_id", sa.String(length=36), nullable=True),
        sa.Column("flow_id", sa.String(length=36), nullable=True),
        sa.Column("flow_run_id", sa.String(length=36), nullable=True),
        sa.Column("step_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["owner_user_id"], ["users.id"], name=op.f("fk_files_owner_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_files_tenant_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
    )
    with op.batch_alter_table("files", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_files_flow_run_id"), ["flow_run_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_files_owner_user_id"), ["owner_user_id"], unique=False)
        batch_op.create_index("ix_files_tenant_id_created_at", ["tenant_id", "created_at"], unique=False)

    op.create_table(
        "spaces",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("owner_user_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_user_id"], ["users.id"], name=op.f("fk_spaces_owner_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_spaces_tenant_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spaces")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_spaces_id_tenant_id")),
    )
    with op.batch_alter_table("spaces", schema=None) as batch_op:
        batch_op.create_index("ix_spaces_owner_user_id", ["owner_user_id"], unique=False)
        batch_op.create_index("ix_spaces_tenant_id_name", ["tenant_id", "name"], unique=False)

    op.create_table(
        "flows",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.String(length=10000), nullable=False),
        sa.Column(
            "draft",
            JSON,
            nullable=False,
        ),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("draft_version", sa.Integer(), nullable=True),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("last_release", sa.Integer(), nullable=False),
        sa.Column("published_version", sa.Integer(), nullable=True),
        sa.Column("created_by_user_id", sa.String(length=36), nullable=True),
        sa.Column("owner_user_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["created_by_user_id"], ["users.id"], name=op.f("fk_flows_created_by_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["owner_user_id"], ["users.id"], name=op.f("fk_flows_owner_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_flows_space_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_flows_tenant_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flows")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_flows_id_tenant_id")),
    )
    with op.batch_alter_table("flows", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_flows_created_by_user_id"), ["created_by_user_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_flows_owner_user_id"), ["owner_user_id"], unique=False)
        batch_op.create_index("ix_flows_space_id_deleted_at", ["space_id", "deleted_at"], unique=False)
        batch_op.create_index("ix_flows_tenant_id_updated_at", ["tenant_id", "updated_at"], unique=False)

    op.create_table(
        "flow_versions",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.Column("logic_checksum", sa.String(length=64), nullable=False),
        sa.Column(
            "definition",
            JSON,
            nullable=False,
        ),
        sa.Column("headgate_version", sa.String(length=32), nullable=False),
        sa.Column("created_by_user_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("release", sa.Integer(), nullable=True),
        sa.Column("released_at", sa.BigInteger(), nullable=True),
        sa.Column("release_notes", sa.String(length=2000), nullable=False),
        sa.CheckConstraint("version >= 1", name=op.f("ck_flow_versions_version_from_one")),
        sa.ForeignKeyConstraint(
            ["created_by_user_id"], ["users.id"], name=op.f("fk_flow_versions_created_by_user_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_flow_versions_flow_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_id", "version", name=op.f("pk_flow_versions")),
        sa.UniqueConstraint("flow_id", "checksum", name=op.f("uq_flow_versions_flow_id_checksum")),
        sa.UniqueConstraint("flow_id", "release", name=op.f("uq_flow_versions_flow_id_release")),
    )
    op.create_table(
        "flow_runs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=True),
        sa.Column("session_id", sa.String(length=128), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("unfinished", sa.Integer(), nullable=False),
        sa.Column(
            "input_payload",
            JSON,
            nullable=False,
        ),
        sa.Column(
            "output_payload",
            JSON,
            nullable=True,
        ),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("cancelled_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'completed', 'failed', 'cancelled')",
            name=op.f("ck_flow_runs_status_known"),
        ),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_flow_runs_flow_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_id", "version"],
            ["flow_versions.flow_id", "flow_versions.version"],
            name=op.f("fk_flow_runs_flow_id_version"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_flow_runs_user_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_runs")),
        sa.UniqueConstraint("id", "flow_id", name=op.f("uq_flow_runs_id_flow_id")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_flow_runs_id_tenant_id")),
    )
    with op.batch_alter_table("flow_runs", schema=None) as batch_op:
        batch_op.create_index("ix_flow_runs_flow_id_session_id", ["flow_id", "session_id"], unique=False)
        batch_op.create_index("ix_flow_runs_flow_id_status", ["flow_id", "status"], unique=False)
        batch_op.create_index("ix_flow_runs_tenant_id_created_at", ["tenant_id", "created_at"], unique=False)
        live = sa.text("status IN ('queued', 'running')")
        batch_op.create_index(
            "ix_flow_runs_live", ["created_at"], unique=False, sqlite_where=live, postgresql_where=live
        )

    op.create_table(
        "version_steps",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("step_order", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.CheckConstraint("step_order >= 1", name=op.f("ck_version_steps_order_from_one")),
        sa.ForeignKeyConstraint(
            ["flow_id", "version"],
            ["flow_versions.flow_id", "flow_versions.version"],
            name=op.f("fk_version_steps_flow_id_version"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_id", "version", "step_id", name=op.f("pk_version_steps")),
        sa.UniqueConstraint(
            "flow_id",
            "version",
            "step_id",
            "step_order",
            name=op.f("uq_version_steps_flow_id_version_step_id_step_order"),
        ),
        sa.UniqueConstraint(
            "flow_id", "version", "step_order", name=op.f("uq_version_steps_flow_id_version_step_order")
        ),
    )
    op.create_table(
        "flow_step_attempts",
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("attempt_no", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("step_order", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("worker_id", sa.String(length=64), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('started', 'completed', 'failed', 'retried', 'cancelled')",
            name=op.f("ck_flow_step_attempts_status_known"),
        ),
        sa.CheckConstraint("attempt_no >= 1", name=op.f("ck_flow_step_attempts_attempt_from_one")),
        sa.ForeignKeyConstraint(
            ["flow_id", "version", "step_id"],
            ["version_steps.flow_id", "version_steps.version", "version_steps.step_id"],
            name=op.f("fk_flow_step_attempts_flow_id_version_step_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "flow_id"],
            ["flow_runs.id", "flow_runs.flow_id"],
            name=op.f("fk_flow_step_attempts_flow_run_id_flow_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_flow_step_attempts_flow_run_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_run_id", "flow_id", "step_id", "attempt_no", name=op.f("pk_flow_step_attempts")),
        sa.UniqueConstraint(
            "flow_run_id", "step_id", "attempt_no", name=op.f("uq_flow_step_attempts_flow_run_id_step_id_attempt_no")
        ),
    )
    op.create_table(
        "flow_step_results",
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("step_order", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker_id", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column(
            "input_payload",
            JSON,
            nullable=True,
        ),
        sa.Column("effective_prompt", sa.Text(), nullable=True),
        sa.Column(
            "output_payload",
            JSON,
            nullable=True,
        ),
        sa.Column(
            "model_parameters",
            JSON,
            nullable=True,
        ),
        sa.Column(
            "tool_calls",
            JSON,
            nullable=True,
        ),
        sa.Column(
            "log",
            JSON,
            nullable=True,
        ),
        sa.Column("num_tokens_input", sa.Integer(), nullable=True),
        sa.Column("num_tokens_output", sa.Integer(), nullable=True),
        sa.Column("execution_hash", sa.String(length=64), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('pending', 'running', 'completed', 'failed', 'cancelled', 'skipped')",
            name=op.f("ck_flow_step_results_status_known"),
        ),
        sa.CheckConstraint("waiting >= 0", name=op.f("ck_flow_step_results_waiting_not_negative")),
        sa.ForeignKeyConstraint(
            ["flow_id", "version", "step_id"],
            ["version_steps.flow_id", "version_steps.version", "version_steps.step_id"],
            name=op.f("fk_flow_step_results_flow_id_version_step_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "flow_id"],
            ["flow_runs.id", "flow_runs.flow_id"],
            name=op.f("fk_flow_step_results_flow_run_id_flow_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_flow_step_results_flow_run_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_run_id", "flow_id", "step_id", name=op.f("pk_flow_step_results")),
        sa.UniqueConstraint("flow_run_id", "step_id", name=op.f("uq_flow_step_results_flow_run_id_step_id")),
    )
    op.create_table(
        "version_edges",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("parent_step_id", sa.String(length=64), nullable=False),
        sa.Column("child_step_id", sa.String(length=64), nullable=False),
        sa.Column("parent_order", sa.Integer(), nullable=False),
        sa.Column("child_order", sa.Integer(), nullable=False),
        sa.CheckConstraint("parent_order < child_order", name=op.f("ck_version_edges_no_cycle")),
        sa.CheckConstraint("parent_step_id <> child_step_id", name=op.f("ck_version_edges_no_self_edge")),
        sa.ForeignKeyConstraint(
            ["flow_id", "version", "child_step_id", "child_order"],
            ["version_steps.flow_id", "version_steps.version", "version_steps.step_id", "version_steps.step_order"],
            name="fk_version_edges_child",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_id", "version", "parent_step_id", "parent_order"],
            ["version_steps.flow_id", "version_steps.version", "version_steps.step_id", "version_steps.step_order"],
            name="fk_version_edges_parent",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_id", "version", "parent_step_id", "child_step_id", name=op.f("pk_version_edges")),
    )
    _first_rows()
    _freeze_versions()


def _first_rows() -> None:
    """The tenant, user and space that a single-user installation works in."""
    tenant, space, user = (f"00000000-0000-7000-8000-00000000000{number}" for number in (1, 2, 3))
    made_at = time.time_ns() // 1000
    op.execute(
        sa.text("INSERT INTO tenants (id, name, created_at) VALUES (:id, 'Default', :at)").bindparams(
            id=tenant, at=made_at
        )
    )
    op.execute(
        sa.text("INSERT INTO users (id, tenant_id, name, created_at) VALUES (:id, :tenant, 'local', :at)").bindparams(
            id=user, tenant=tenant, at=made_at
        )
    )
    op.execute(
        sa.text(
            "INSERT INTO spaces (id, tenant_id, name, owner_user_id, created_at)"
            " VALUES (:id, :tenant, 'Personal', :user, :at)"
        ).bindparams(id=space, tenant=tenant, user=user, at=made_at)
    )


FROZEN = (
    "flow_id",
    "version",
    "tenant_id",
    "checksum",
    "logic_checksum",
    "definition",
    "headgate_version",
    "created_at",
)


def _freeze_versions() -> None:
    """Refuse, in the database, to change what a version holds."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER flow_versions_frozen BEFORE UPDATE OF {', '.join(FROZEN)} ON flow_versions"
            " BEGIN SELECT RAISE(ABORT, 'a flow version is immutable'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'a flow version is immutable'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER flow_versions_frozen BEFORE UPDATE OF {', '.join(FROZEN)} ON flow_versions"
        " FOR EACH ROW EXECUTE FUNCTION refuse_version_change()"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER flow_versions_frozen")
    else:
        op.execute("DROP TRIGGER flow_versions_frozen ON flow_versions")
        op.execute("DROP FUNCTION refuse_version_change()")
    op.drop_table("version_edges")
    op.drop_table("flow_step_results")
    op.drop_table("flow_step_attempts")
    op.drop_table("version_steps")
    with op.batch_alter_table("flow_runs", schema=None) as batch_op:
        batch_op.drop_index("ix_flow_runs_live")
        batch_op.drop_index("ix_flow_runs_tenant_id_created_at")
        batch_op.drop_index("ix_flow_runs_flow_id_status")
        batch_op.drop_index("ix_flow_runs_flow_id_session_id")

    op.drop_table("flow_runs")
    op.drop_table("flow_versions")
    with op.batch_alter_table("flows", schema=None) as batch_op:
        batch_op.drop_index("ix_flows_tenant_id_updated_at")
        batch_op.drop_index("ix_flows_space_id_deleted_at")
        batch_op.drop_index(batch_op.f("ix_flows_owner_user_id"))
        batch_op.drop_index(batch_op.f("ix_flows_created_by_user_id"))

    op.drop_table("flows")
    with op.batch_alter_table("spaces", schema=None) as batch_op:
        batch_op.drop_index("ix_spaces_owner_user_id")

    op.drop_table("spaces")
    with op.batch_alter_table("files", schema=None) as batch_op:
        batch_op.drop_index("ix_files_tenant_id_created_at")
        batch_op.drop_index(batch_op.f("ix_files_owner_user_id"))
        batch_op.drop_index(batch_op.f("ix_files_flow_run_id"))

    op.drop_table("files")
    op.drop_table("variables")
    op.drop_table("users")
    op.drop_table("tenants")
