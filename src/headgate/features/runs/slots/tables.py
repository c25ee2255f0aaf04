"""Table of slots and of those who wait for one. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, String, Table

from headgate.foundation.database import metadata, of_tenant, partial_index

run_slots = Table(
    "run_slots",
    metadata,
    Column("tenant_id", String(36), nullable=False),
    Column("name", String(320), nullable=False),
    Column("flow_run_id", String(36), nullable=False),
    Column("step_id", String(64), nullable=False),
    Column("most", Integer, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("requested_at", BigInteger, nullable=False),
    Column("granted_at", BigInteger),
    PrimaryKeyConstraint("tenant_id", "name", "flow_run_id", "step_id"),
    of_tenant("flow_run_id", "flow_runs"),
    Index("ix_run_slots_flow_run_id", "flow_run_id"),
    partial_index("ix_run_slots_queue", "tenant_id", "name", where="granted_at IS NULL"),
)
"""`step_id` is empty where the run holds the slot. Granted rows count while their run or step is active."""
