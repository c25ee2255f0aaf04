"""Hosts and folders of programs."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0090"
down_revision = "0089"


def upgrade() -> None:
    op.add_column("mcp_servers", sa.Column("access", Json))


def downgrade() -> None:
    op.drop_column("mcp_servers", "access")
