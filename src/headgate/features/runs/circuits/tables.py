"""Table of hosts that failed. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, PrimaryKeyConstraint, String, Table

from headgate.foundation.database import metadata

host_circuits = Table(
    "host_circuits",
    metadata,
    Column("tenant_id", String(36), ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("host", String(300), nullable=False),
    Column("failures", Integer, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("open_until", BigInteger),
    Column("probe_until", BigInteger),
    Column("last_error", String(64), nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant_id", "host"),
)
"""One row per tenant and host with failures in a row; a success deletes it. `open_until` is set while the circuit is
open; `probe_until` while one request tries the host again."""
