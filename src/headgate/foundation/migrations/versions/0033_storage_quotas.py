"""Limits of stored bytes; an index that holds what their sums read."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

_SCOPES = "scope IN ('space', 'tenant', 'visitor')"
_BEFORE = ("runs", "runs_per_hour", "tokens_per_day", "tokens_per_month")
_COLUMNS = ("tenant_id", "scope", "space_id", "quota", "most")
_INDEX = "ix_files_stored_bytes"


def upgrade() -> None:
    _replace((*_BEFORE, "storage_bytes"))
    op.create_index(_INDEX, "files", ["tenant_id", "space_id", "size_bytes"])


def downgrade() -> None:
    op.drop_index(_INDEX, "files")
    _replace(_BEFORE)


def _replace(known: tuple[str, ...]) -> None:
    """Recreate the table with its rows: SQLite changes no constraint."""
    quotas = sa.table("quotas", *(sa.column(name) for name in _COLUMNS))
    rows = op.get_bind().execute(sa.select(quotas)).mappings().all()
    op.drop_table("quotas")
    op.create_table(
        "quotas",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("quota", sa.String(length=32), nullable=False),
        sa.Column("most", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(_SCOPES, name="ck_quotas_scope_known"),
        sa.CheckConstraint(f"quota IN ({', '.join(repr(name) for name in known)})", name="ck_quotas_quota_known"),
        sa.CheckConstraint("most >= 0", name="ck_quotas_most_not_negative"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_quotas_tenant_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "scope", "space_id", "quota", name="pk_quotas"),
    )
    op.bulk_insert(quotas, [dict(row) for row in rows if row["quota"] in known])
