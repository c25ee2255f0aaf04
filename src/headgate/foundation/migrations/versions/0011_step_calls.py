"""Answered model and tool calls of a step, reused when the step is attempted again."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "flow_step_calls",
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("attempt_no", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("tokens_input", sa.Integer(), nullable=True),
        sa.Column("tokens_output", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "flow_id", "step_id", "attempt_no"],
            [
                "flow_step_attempts.flow_run_id",
                "flow_step_attempts.flow_id",
                "flow_step_attempts.step_id",
                "flow_step_attempts.attempt_no",
            ],
            name=op.f("fk_flow_step_calls_flow_run_id_flow_id_step_id_attempt_no"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "flow_run_id", "flow_id", "step_id", "attempt_no", "seq", name=op.f("pk_flow_step_calls")
        ),
    )


def downgrade() -> None:
    op.drop_table("flow_step_calls")
