"""The identity provider's own name of a session, for signing out from there."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.add_column("user_sessions", sa.Column("provider_session", sa.String(length=255), nullable=True))
    op.create_index("ix_user_sessions_provider_session", "user_sessions", ["provider_session"])


def downgrade() -> None:
    op.drop_index("ix_user_sessions_provider_session", "user_sessions")
    op.drop_column("user_sessions", "provider_session")
