"""Service accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0092"
down_revision = "0091"

_HAS_NO_SIGN_IN = (
    "kind = 'user' OR (kind = 'service' AND email IS NULL AND password_hash IS NULL"
    " AND sso_issuer IS NULL AND sso_subject IS NULL)"
)
_IS_SERVICE = sa.text("kind = 'service' AND deleted_at IS NULL")


def upgrade() -> None:
    check = sa.CheckConstraint(_HAS_NO_SIGN_IN, name=op.f("ck_users_kind"))
    op.add_column("users", sa.Column("kind", sa.String(16), check, server_default="user", nullable=False))
    op.create_index(
        "ix_users_service_name",
        "users",
        ["name", "tenant_id"],
        unique=True,
        sqlite_where=_IS_SERVICE,
        postgresql_where=_IS_SERVICE,
    )


def downgrade() -> None:
    op.drop_index("ix_users_service_name", "users")
    op.execute("UPDATE users SET active = false WHERE kind = 'service'")
    op.drop_column("users", "kind")
