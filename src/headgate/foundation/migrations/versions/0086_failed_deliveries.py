"""An index of failed deliveries: what needs attention lists them without reading the others."""

import sqlalchemy as sa
from alembic import op

revision = "0086"
down_revision = "0085"
NAME = "ix_webhook_deliveries_failed"


def upgrade() -> None:
    failed = sa.text("status = 'failed'")
    op.create_index(
        NAME, "webhook_deliveries", ["tenant_id", "created_at"], sqlite_where=failed, postgresql_where=failed
    )


def downgrade() -> None:
    op.drop_index(NAME, "webhook_deliveries")
