"""Where passages are on the pages of their documents."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0090"
down_revision = "0086"


def upgrade() -> None:
    op.add_column("knowledge_passages", sa.Column("marks", Json(), nullable=True))


def downgrade() -> None:
    op.drop_column("knowledge_passages", "marks")
