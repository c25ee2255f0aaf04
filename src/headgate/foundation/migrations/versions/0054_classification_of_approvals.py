"""Approvals store the classification of what they show."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0052"


def upgrade() -> None:
    op.add_column("approvals", sa.Column("classification", sa.Integer()))


def downgrade() -> None:
    op.drop_column("approvals", "classification")
