"""Test sets of flows, their results, and each trial."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Json, Row, TenantRow, Timestamp, now, of_tenant


class TestCaseRow(Row):
    """A test case of a flow: `graph.cases.TestCase`."""

    __test__ = False
    __tablename__ = "flow_tests"
    __table_args__ = (of_tenant("flow_id", "flows"),)

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    position: Mapped[int]
    case: Mapped[dict[str, Any]] = mapped_column(Json)
    """The case, without its name and default values."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class TestResultRow(JobColumns, TenantRow):
    """One execution of a flow's test set: every case the requested number of times."""

    __test__ = False
    __tablename__ = "flow_test_results"
    __table_args__ = (
        of_tenant("flow_id", "flows"),
        UniqueConstraint("id", "tenant_id"),
        Index("ix_flow_test_results_flow_id_id", "flow_id", "id"),
        *job_indexes("flow_test_results"),
        CheckConstraint("status IN ('running', 'passed', 'failed', 'cancelled')", name="status_known"),
        CheckConstraint("trials BETWEEN 1 AND 10", name="trials_bounded"),
    )

    flow_id: Mapped[str] = mapped_column(String(36))
    version: Mapped[int]
    """The executed version."""
    logic_checksum: Mapped[str] = mapped_column(String(64))
    """Of that version: `graph.canonical.logic_checksum`."""
    set_checksum: Mapped[str] = mapped_column(String(64))
    """Of the test set at the time: `service.checksum_of`."""
    trials: Mapped[int]
    """Number of trials per case."""
    of: Mapped[int]
    """Total number of trials."""
    status: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text, default="")
    """Why it was cancelled."""
    started_by: Mapped[str | None] = mapped_column(String(36))
    """The user, who may have been deleted."""
    started_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)


class TrialRow(Row):
    """One run of one case. When retention deletes the run, its output is deleted too."""

    __tablename__ = "flow_test_trials"
    __table_args__ = (of_tenant("result_id", "flow_test_results"),)

    result_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """Index of the case in the set, from 0."""
    trial: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """From 1."""
    tenant_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    passed: Mapped[bool]
    misses: Mapped[list[str]] = mapped_column(Json)
    answer: Mapped[str] = mapped_column(Text)
    """The beginning of the output."""
    error: Mapped[str] = mapped_column(Text)
    """Why there is no output; empty when there is one."""
    run_id: Mapped[str] = mapped_column(String(36))
    """Empty when it could not be started, or was deleted."""
    ms: Mapped[int]
    tokens: Mapped[int]
