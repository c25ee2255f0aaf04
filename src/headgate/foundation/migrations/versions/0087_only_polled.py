"""Why a trigger is only polled: its source does not report changes."""

import sqlalchemy as sa
from alembic import op

revision = "0087"
down_revision = "0086"


def upgrade() -> None:
    op.add_column("triggers", sa.Column("only_polled", sa.String(500), nullable=False, server_default=sa.text("''")))


def downgrade() -> None:
    op.drop_column("triggers", "only_polled")
