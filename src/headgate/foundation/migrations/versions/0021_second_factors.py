"""Second factors, confirmed sessions, the sign-in policy; networks of API keys."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column(
        "tenants", sa.Column("second_factor_required", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("user_sessions", sa.Column("second_factor", sa.String(length=16), nullable=True))
    op.add_column("user_sessions", sa.Column("confirmed_at", sa.BigInteger(), nullable=True))
    op.add_column("api_keys", sa.Column("networks", JSON, nullable=True))
    op.create_table(
        "totp_authenticators",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.BigInteger(), nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=False, server_default="0"),
        _of_user("totp_authenticators"),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_totp_authenticators")),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        _of_user("recovery_codes"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_codes")),
    )
    op.create_index("ix_recovery_codes_user_id", "recovery_codes", ["user_id"])


def _of_user(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["user_id", "tenant_id"],
        ["users.id", "users.tenant_id"],
        name=op.f(f"fk_{table}_user_id_tenant_id"),
        ondelete="CASCADE",
    )


def downgrade() -> None:
    op.drop_table("recovery_codes")
    op.drop_table("totp_authenticators")
    op.drop_column("api_keys", "networks")
    op.drop_column("user_sessions", "confirmed_at")
    op.drop_column("user_sessions", "second_factor")
    op.drop_column("tenants", "second_factor_required")
