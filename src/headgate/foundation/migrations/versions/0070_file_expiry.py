"""Files that are deleted at a time, unless something keeps them."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Timestamp

revision = "0070"
down_revision = "0069"

_SET = "expires_at IS NOT NULL"


def upgrade() -> None:
    with op.batch_alter_table("files") as table:
        table.add_column(sa.Column("expires_at", Timestamp))
    op.create_index(
        "ix_files_expires_at", "files", ["expires_at"], sqlite_where=sa.text(_SET), postgresql_where=sa.text(_SET)
    )


def downgrade() -> None:
    op.drop_index("ix_files_expires_at", "files")
    with op.batch_alter_table("files") as table:
        table.drop_column("expires_at")
