"""Table of the secrets that runs have read, by name."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, Timestamp, of_tenant


class SecretRead(Row):
    """A run's first read of a secret. Later reads of the run are not recorded."""

    __tablename__ = "secret_reads"
    __table_args__ = (
        of_tenant("flow_run_id", "flow_runs"),
        CheckConstraint("source IN ('space', 'organisation', 'server')", name="source_known"),
        Index("ix_secret_reads_tenant_id_name", "tenant_id", "name"),
    )

    flow_run_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    flow_id: Mapped[str] = mapped_column(String(36))
    step_id: Mapped[str] = mapped_column(String(64))
    source: Mapped[str] = mapped_column(String(16))
    """Origin of the variable: the space, the organisation, or the server's environment."""
    at: Mapped[datetime] = mapped_column(Timestamp)
