"""Variables belong to a space, or to the organisation. Those that are there belong to the organisation."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from headgate.foundation.ids import new_id

revision = "0020"
down_revision = "0019"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_INDEXES = (
    ("ux_variables_space_id_name", ["tenant_id", "space_id"], "space_id IS NOT NULL"),
    ("ux_variables_tenant_id_name", ["tenant_id"], "space_id IS NULL"),
)


def _columns() -> list[Any]:
    return [
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("token", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.Boolean(), nullable=False),
        sa.Column("hosts", JSON, nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_variables_tenant_id", ondelete="CASCADE"),
    ]


def upgrade() -> None:
    rows = _taken()
    table = op.create_table(
        "variables",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=True),
        *_columns(),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name="fk_variables_space_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_variables"),
    )
    for name, owner, where in _INDEXES:
        condition = sa.text(where)
        op.create_index(
            name, "variables", [*owner, "name"], unique=True, sqlite_where=condition, postgresql_where=condition
        )
    op.bulk_insert(table, [{"id": new_id(), "space_id": None, **row} for row in rows])


def downgrade() -> None:
    rows = _taken(sa.column("space_id").is_(None))
    table = op.create_table("variables", *_columns(), sa.PrimaryKeyConstraint("tenant_id", "name", name="pk_variables"))
    op.bulk_insert(table, rows)


def _taken(*where: sa.ColumnElement[bool]) -> list[dict[str, Any]]:
    """The rows of the table, which is dropped."""
    columns = [column for column in _columns() if isinstance(column, sa.Column)]
    table = sa.table("variables", *(sa.column(column.name, column.type) for column in columns))
    rows = op.get_bind().execute(sa.select(table).where(*where)).mappings().all()
    op.drop_table("variables")
    return [dict(row) for row in rows]
