"""Maintenance jobs: one row each, so that only one of several processes runs each occurrence."""

from sqlalchemy import BigInteger, Column, String, Table

from headgate.features.jobs.tables import job_columns, job_indexes
from headgate.foundation.database import Json, metadata

scheduled_jobs = Table(
    "scheduled_jobs",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("outcome", Json),
    *job_columns(),
    *job_indexes("scheduled_jobs"),
)
"""Times are microseconds in UTC; `outcome` is what the job counted, or its error."""
