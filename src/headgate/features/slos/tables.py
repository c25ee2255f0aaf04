"""Service level objectives, and their counts of runs in parts of five minutes. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, CheckConstraint, Float, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Row, TenantRow, of_tenant


class SloRow(TenantRow, JobColumns):
    """A target for the runs of a flow over a rolling window. It is a job: its counts are due every few minutes."""

    __tablename__ = "slos"
    __table_args__ = (
        of_tenant("flow_id", "flows"),
        UniqueConstraint("id", "tenant_id"),
        UniqueConstraint("flow_id", "name"),
        CheckConstraint("kind IN ('success', 'latency')", name="kind_known"),
        CheckConstraint("runs IN ('all', 'published', 'triggers')", name="runs_known"),
        Index("ix_slos_tenant_id_id", "tenant_id", "id"),
        *job_indexes("slos"),
    )

    flow_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(120))
    kind: Mapped[str] = mapped_column(String(16))
    runs: Mapped[str] = mapped_column(String(16))
    """Which count: all, of published versions, or started by triggers."""
    target: Mapped[float] = mapped_column(Float)
    """Percent of good runs."""
    seconds: Mapped[float | None] = mapped_column(Float)
    """`latency`: the longest duration of a good run."""
    window_days: Mapped[int]
    counted_until: Mapped[int] = mapped_column(BigInteger)
    """Runs that ended before are in `slo_counts`; later ones are counted when they are read."""
    created_by_user_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[int] = mapped_column(BigInteger)


class SloCountRow(Row):
    """The runs of an objective that ended within five minutes; none without runs."""

    __tablename__ = "slo_counts"
    __table_args__ = (of_tenant("slo_id", "slos"),)

    slo_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    at: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    """Start of the part."""
    tenant_id: Mapped[str] = mapped_column(String(36))
    runs: Mapped[int]
    good: Mapped[int]
