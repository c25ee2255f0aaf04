"""Values that last between runs of a flow, and their history."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"

_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")


def upgrade() -> None:
    op.create_table(
        "flow_states",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_flow_states_flow_id_tenant_id_flows"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_id", "draft", "name", name=op.f("pk_flow_states")),
    )
    op.create_table(
        "flow_state_values",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("flow_run_id", sa.String(length=36)),
        sa.Column("step_id", sa.String(length=64)),
        sa.Column("user_id", sa.String(length=36)),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_id", "draft", "name"],
            ["flow_states.flow_id", "flow_states.draft", "flow_states.name"],
            name=op.f("fk_flow_state_values_flow_id_draft_name_flow_states"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_id", "draft", "name", "version", name=op.f("pk_flow_state_values")),
        sa.UniqueConstraint("flow_run_id", "step_id", name=op.f("uq_flow_state_values_flow_run_id_step_id")),
    )
    _KEYS.guard("flow_states", "content", is_text=False)
    _KEYS.guard("flow_state_values", "content", is_text=False)


def downgrade() -> None:
    op.drop_table("flow_state_values")
    op.drop_table("flow_states")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION flow_states_content_key()")
        op.execute("DROP FUNCTION flow_state_values_content_key()")
