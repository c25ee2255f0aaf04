"""Runs of a part of a flow, with outputs that stand in for doing steps."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("flow_runs", sa.Column("part", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("flow_runs", "part")
