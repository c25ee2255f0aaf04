"""The check of the kinds of a table, which each migration with a new kind changes."""

import sqlalchemy as sa
from alembic import op


def change_known_kinds(table: str, known: str, before: str, after: str) -> None:
    """Change the end of the check `known + before`; in SQLite by editing the text of the table."""
    if op.get_bind().dialect.name != "sqlite":
        name = op.f(f"ck_{table}_kind_known")
        op.drop_constraint(name, table, type_="check")
        op.create_check_constraint(name, table, known + after)
        return
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = :name"
        ).bindparams(name=table, before=before, after=after)
    )
    version = op.get_bind().execute(sa.text("PRAGMA schema_version")).scalar_one()
    op.execute(f"PRAGMA schema_version = {version + 1}")
    op.execute("PRAGMA writable_schema = RESET")
