"""Users that were deleted: the row keeps the id for history, and nothing else."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("users", sa.Column("deleted_at", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("users", "deleted_at")
