"""Where passages are on the pages of their documents."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0089"
down_revision = "0088"


def upgrade() -> None:
    op.add_column("knowledge_passages", sa.Column("marks", Json(), nullable=True))


def downgrade() -> None:
    op.drop_column("knowledge_passages", "marks")
