"""Steps and runs that wait without a worker; how often the worker of a step died."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"

_STATES = {
    "flow_runs": ("'running'", "'running', 'waiting'"),
    "flow_step_results": ("'running'", "'running', 'waiting'"),
    "flow_step_attempts": ("'retried'", "'retried', 'suspended'"),
}
"""Table to what its check of the status is changed from and to."""
_ALL = {
    "flow_runs": "'queued', 'running', 'completed', 'failed', 'cancelled'",
    "flow_step_results": "'pending', 'running', 'completed', 'failed', 'cancelled', 'skipped'",
    "flow_step_attempts": "'started', 'completed', 'failed', 'retried', 'cancelled'",
}
_RUNS, _STEPS = "ix_flow_runs_waiting", "ix_flow_step_results_due"
_WAITS = sa.text("status = 'waiting'")


def upgrade() -> None:
    for table, (before, after) in _STATES.items():
        _change_check(table, before, after)
    op.add_column("flow_step_results", sa.Column("waits_for", sa.String(length=16)))
    op.add_column("flow_step_results", sa.Column("due_at", sa.BigInteger()))
    op.add_column("flow_step_results", sa.Column("interruptions", sa.Integer(), nullable=False, server_default="0"))
    # Workers kept a long wait as a step that a timer held.
    op.execute(
        "UPDATE flow_step_results SET status = 'waiting', waits_for = 'time', due_at = lease_until, worker_id = NULL,"
        " lease_until = NULL WHERE status = 'running' AND worker_id = 'timer'"
    )
    op.create_index(_RUNS, "flow_runs", ["flow_id"], sqlite_where=_WAITS, postgresql_where=_WAITS)
    op.create_index(_STEPS, "flow_step_results", ["due_at"], sqlite_where=_WAITS, postgresql_where=_WAITS)


def downgrade() -> None:
    op.drop_index(_STEPS, "flow_step_results")
    op.drop_index(_RUNS, "flow_runs")
    op.execute(
        "UPDATE flow_step_results SET status = 'running', worker_id = 'timer', lease_until = due_at"
        " WHERE status = 'waiting'"
    )
    op.execute("UPDATE flow_runs SET status = 'running' WHERE status = 'waiting'")
    for column in ("interruptions", "due_at", "waits_for"):
        op.drop_column("flow_step_results", column)
    # Attempts that are over cannot be changed: they keep their status, and the check of it.
    for table in ("flow_runs", "flow_step_results"):
        before, after = _STATES[table]
        _change_check(table, after, before)


def _change_check(table: str, before: str, after: str) -> None:
    """Change the known states of a table.

    SQLite has no statement for it, and recreating the table would run into its guards and those of the rows that refer
    to it: the text of the table is edited, as its documentation describes.
    """
    if op.get_bind().dialect.name != "sqlite":
        name = op.f(f"ck_{table}_status_known")
        op.drop_constraint(name, table, type_="check")
        known = _ALL[table].replace(*_STATES[table]) if "," in after else _ALL[table]
        op.create_check_constraint(name, table, f"status IN ({known})")
        return
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = :table"
        ).bindparams(before=before, after=after, table=table)
    )
    version = op.get_bind().execute(sa.text("PRAGMA schema_version")).scalar_one()
    op.execute(f"PRAGMA schema_version = {version + 1}")
    op.execute("PRAGMA writable_schema = RESET")
