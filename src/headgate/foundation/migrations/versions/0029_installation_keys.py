"""Rotation of the installation's keys: their states and readers; nothing is written with a retired one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
COLUMNS: Sequence[tuple[str, str, bool]] = (
    ("codev_writes", "before", True),
    ("codev_writes", "change", True),
    ("webhook_deliveries", "target", False),
    ("flow_step_calls", "answer", False),
    ("mcp_servers", "sealed", False),
    ("model_servers", "sealed", False),
    ("totp_authenticators", "secret", False),
    ("variables", "token", False),
)
"""Columns of ciphertext, and whether each is text. A test holds this to the metadata."""
_MOMENTS = ("created_at", "activated_at", "replaced_at", "retired_at", "revoked_at")


def upgrade() -> None:
    op.create_table(
        "installation_keys",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("public_key", sa.String(64)),
        *(sa.Column(name, sa.BigInteger()) for name in _MOMENTS),
        sa.Column("reason", sa.Text()),
        sa.Column("progress", JSON),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("event", sa.String(200)),
        sa.Column("worker_id", sa.String(64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.CheckConstraint("purpose IN ('secrets', 'evidence')", name="ck_installation_keys_purpose_is_known"),
        sa.PrimaryKeyConstraint("id", name="pk_installation_keys"),
        sa.CheckConstraint(
            "state IN ('prepared', 'current', 'old', 'retired', 'revoked')", name="ck_installation_keys_state_is_known"
        ),
    )
    for state in ("current", "prepared"):
        _index(f"ux_installation_keys_{state}", "purpose", f"state = '{state}'", unique=True)
    _index("ix_installation_keys_due", "due_at", "worker_id IS NULL AND due_at IS NOT NULL")
    _index("ix_installation_keys_claimed", "worker_id", "worker_id IS NOT NULL")
    _index("ix_installation_keys_event", "event", "event IS NOT NULL")
    op.create_table(
        "key_readers",
        sa.Column("process_id", sa.String(64), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("key_ids", JSON, nullable=False),
        sa.Column("writes_with", JSON, nullable=False),
        sa.PrimaryKeyConstraint("process_id", name="pk_key_readers"),
    )
    for table, column, is_text in COLUMNS:
        guard(table, column, is_text=is_text)


def _index(name: str, column: str, where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(
        name, "installation_keys", [column], unique=unique, sqlite_where=condition, postgresql_where=condition
    )


def guard(table: str, column: str, *, is_text: bool) -> None:
    """Refuse what is encrypted with a retired key: a process that slept through the rotation would lose it."""
    name, gone = f"{table}_{column}_key", "SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = "
    if op.get_bind().dialect.name == "sqlite":
        named = f'substr(CAST(NEW."{column}" AS TEXT), 5, 16)'
        for when, what in (("insert", "INSERT"), ("update", f'UPDATE OF "{column}"')):
            op.execute(
                f"CREATE TRIGGER {name}_{when} BEFORE {what} ON {table} WHEN EXISTS ({gone}{named})"
                f" BEGIN SELECT RAISE(ABORT, '{table}: the key of this value is retired'); END"
            )
        return
    stored = f'NEW."{column}"'
    named = f"substr({stored}, 5, 16)" if is_text else f"encode(substring({stored} from 5 for 16), 'escape')"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS ({gone}{named}) THEN"
        f" RAISE EXCEPTION '{table}: the key of this value is retired'"
        " USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $$"
    )
    op.execute(
        f'CREATE TRIGGER {name} BEFORE INSERT OR UPDATE OF "{column}" ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()'
    )


def downgrade() -> None:
    for table, column, _ in COLUMNS:
        name = f"{table}_{column}_key"
        if op.get_bind().dialect.name == "sqlite":
            for when in ("insert", "update"):
                op.execute(f"DROP TRIGGER {name}_{when}")
        else:
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
    op.drop_table("key_readers")
    op.drop_table("installation_keys")
