"""Triggers that are forms on a public page, with one-time links."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.migrations.known_kinds import change_known_kinds

revision = "0063"
down_revision = "0062"

_BEFORE = "'mail', 'api')"
_AFTER = "'mail', 'api', 'form')"
_KNOWN = "kind IN ('schedule', 'webhook', 'flow', 'event', 'manual', 'feed', 'page', 'folder', 'rows', "


def upgrade() -> None:
    change_known_kinds("triggers", _KNOWN, _BEFORE, _AFTER)
    op.add_column("triggers", sa.Column("submissions", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "trigger_links",
        sa.Column("id", sa.String(length=36), primary_key=True),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("trigger_id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("used_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.Column("occurrence_id", sa.String(length=36)),
        sa.ForeignKeyConstraint(["trigger_id", "tenant_id"], ["triggers.id", "triggers.tenant_id"], ondelete="CASCADE"),
    )
    op.create_index("ix_trigger_links_token_hash", "trigger_links", ["token_hash"], unique=True)
    op.create_index("ix_trigger_links_trigger_id_id", "trigger_links", ["trigger_id", "id"])


def downgrade() -> None:
    op.drop_table("trigger_links")
    op.execute("DELETE FROM triggers WHERE kind = 'form'")
    op.drop_column("triggers", "submissions")
    change_known_kinds("triggers", _KNOWN, _AFTER, _BEFORE)
