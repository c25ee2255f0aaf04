"""Columns that make a row a job. The table, its status and its payload belong to its feature."""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import partial_index

_DUE = "worker_id IS NULL AND due_at IS NOT NULL"
"""Jobs that wait for their time: this index does not cover finished rows."""
_CLAIMED = "worker_id IS NOT NULL"
_WAITING = "event IS NOT NULL"


def job_columns() -> tuple[Column[Any], ...]:
    """Return the job columns of a table. Times are microseconds in UTC.

    `due_at`: when the job is to be claimed; null: not by time. `event`: the key of the event that makes it due.
    `worker_id` and `lease_until`: holder and end of the claim. `attempts`: number of claims; the current number is the
    fencing token that prevents writes of a late worker.
    """
    return (
        Column("due_at", BigInteger),
        Column("event", String(200)),
        Column("worker_id", String(64)),
        Column("lease_until", BigInteger),
        Column("attempts", Integer, nullable=False, server_default="0"),
    )


def job_indexes(table: str) -> tuple[Index, ...]:
    """Return the partial indexes of a table with job columns."""
    return (
        partial_index(f"ix_{table}_due", "due_at", where=_DUE),
        partial_index(f"ix_{table}_claimed", "worker_id", where=_CLAIMED),
        partial_index(f"ix_{table}_event", "event", where=_WAITING),
    )


class JobColumns:
    """The job columns for a mapped class."""

    due_at: Mapped[int | None] = mapped_column(BigInteger)
    event: Mapped[str | None] = mapped_column(String(200))
    worker_id: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[int | None] = mapped_column(BigInteger)
    attempts: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
