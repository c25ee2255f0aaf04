"""Deliveries: attempts made before the current series of rounds."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("webhook_deliveries", sa.Column("earlier_attempts", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("webhook_deliveries", "earlier_attempts")
