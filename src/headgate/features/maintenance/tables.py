"""Scheduled jobs: when each is due, so that of several processes one runs it."""

from sqlalchemy import BigInteger, Column, String, Table

from headgate.foundation.database import Json, metadata

scheduled_jobs = Table(
    "scheduled_jobs",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("due_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("outcome", Json),
)
"""Times are microseconds in UTC; `outcome` is what the job counted, or its error."""
