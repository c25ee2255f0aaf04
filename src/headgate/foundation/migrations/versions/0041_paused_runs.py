"""Runs that a user paused, and runs with a deadline."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"

_BEFORE, _AFTER = "'waiting', 'completed'", "'waiting', 'paused', 'completed'"
_KNOWN = "'queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'"
_PAUSED = sa.text("status = 'paused'")
_DEADLINE = sa.text("deadline_at IS NOT NULL AND status IN ('queued', 'running', 'waiting')")


def upgrade() -> None:
    _change_check(_BEFORE, _AFTER)
    op.add_column("flow_runs", sa.Column("paused_at", sa.BigInteger()))
    op.add_column("flow_runs", sa.Column("deadline_after", sa.BigInteger()))
    op.add_column("flow_runs", sa.Column("deadline_at", sa.BigInteger()))
    op.create_index(
        "ix_flow_runs_deadline",
        "flow_runs",
        ["deadline_at"],
        sqlite_where=_DEADLINE,
        postgresql_where=_DEADLINE,
    )
    op.create_index("ix_flow_runs_paused", "flow_runs", ["flow_id"], sqlite_where=_PAUSED, postgresql_where=_PAUSED)


def downgrade() -> None:
    op.drop_index("ix_flow_runs_paused", "flow_runs")
    op.drop_index("ix_flow_runs_deadline", "flow_runs")
    op.execute(
        "UPDATE flow_step_results SET due_at = answered_at WHERE status = 'waiting' AND due_at IS NULL"
        " AND answered_at IS NOT NULL"
    )
    op.execute(
        "UPDATE flow_runs SET status = CASE WHEN started_at IS NULL THEN 'queued' ELSE 'running' END"
        " WHERE status = 'paused'"
    )
    for column in ("deadline_at", "deadline_after", "paused_at"):
        op.drop_column("flow_runs", column)
    _change_check(_AFTER, _BEFORE)


def _change_check(before: str, after: str) -> None:
    """Change the known states of runs; in SQLite by editing the text of the table, as migration 0034 does."""
    if op.get_bind().dialect.name != "sqlite":
        name = op.f("ck_flow_runs_status_known")
        op.drop_constraint(name, "flow_runs", type_="check")
        known = _KNOWN.replace(_BEFORE, _AFTER) if after == _AFTER else _KNOWN
        op.create_check_constraint(name, "flow_runs", f"status IN ({known})")
        return
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = 'flow_runs'"
        ).bindparams(before=before, after=after)
    )
    version = op.get_bind().execute(sa.text("PRAGMA schema_version")).scalar_one()
    op.execute(f"PRAGMA schema_version = {version + 1}")
    op.execute("PRAGMA writable_schema = RESET")
