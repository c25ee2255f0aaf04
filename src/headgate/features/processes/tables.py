"""Table of the processes of an installation. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Integer, String, Table

from headgate.foundation.database import Json, metadata

processes = Table(
    "processes",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("parent_id", String(64)),
    Column("kind", String(16), nullable=False),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", String(64), nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
    Column("work", Json, nullable=False),
    Column("draining_at", BigInteger),
    Column("hand_over_at", BigInteger),
    CheckConstraint("kind IN ('server', 'worker')", name="kind_known"),
)
"""A process that stops in order deletes its row, so a row that is not renewed is of one that died. `parent_id`: the
worker of a child. `work`: counts of what it works on: `runs`, and jobs by kind. `hand_over_at`: from then on a draining
process begins no further step of its runs."""
