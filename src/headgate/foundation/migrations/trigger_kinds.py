"""The check of a trigger's kind, which each migration with a new kind changes."""

import sqlalchemy as sa
from alembic import op


def change_known_kinds(known: str, before: str, after: str) -> None:
    """Change the end of the check `known + before`; in SQLite by editing the text of the table."""
    if op.get_bind().dialect.name != "sqlite":
        name = op.f("ck_triggers_kind_known")
        op.drop_constraint(name, "triggers", type_="check")
        op.create_check_constraint(name, "triggers", known + after)
        return
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = 'triggers'"
        ).bindparams(before=before, after=after)
    )
    version = op.get_bind().execute(sa.text("PRAGMA schema_version")).scalar_one()
    op.execute(f"PRAGMA schema_version = {version + 1}")
    op.execute("PRAGMA writable_schema = RESET")
