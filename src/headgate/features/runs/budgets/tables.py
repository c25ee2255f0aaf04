"""Table of what was charged to budgets. Times are microseconds in UTC."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    PrimaryKeyConstraint,
    String,
    Table,
)

from headgate.foundation.database import metadata, of_tenant

budget_accounts = Table(
    "budget_accounts",
    metadata,
    Column("subject", String(80), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("flow_run_id", String(36)),
    Column("used", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("subject", "kind"),
    of_tenant("flow_id", "flows"),
    of_tenant("flow_run_id", "flow_runs"),
    CheckConstraint("used >= 0", name="used_not_negative"),
    Index("ix_budget_accounts_flow_id", "flow_id", "changed_at"),
    Index("ix_budget_accounts_flow_run_id", "flow_run_id"),
)
"""One row per budget and kind: `run:ID` or `flow:ID:YYYY-MM-DD`. A row exists once something was charged to it."""
