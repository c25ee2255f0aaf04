"""Tables of the development agent: sessions, their events, their writes, and patterns."""

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ForeignKeyConstraint, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import EncryptedText, Json, Row, TenantRow, Timestamp, now, of_tenant


class SessionRow(JobColumns, TenantRow):
    """A session: a job while it is in progress. Its graph's state is in the checkpoints; lists and users read this."""

    __tablename__ = "codev_sessions"
    __table_args__ = (
        of_tenant("space_id", "spaces"),
        Index("ix_codev_sessions_tenant_id_created_at", "tenant_id", "created_at"),
        *job_indexes("codev_sessions"),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(36))
    domain: Mapped[str] = mapped_column(String(40))
    instance_id: Mapped[str] = mapped_column(String(100), default="")
    requirement: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(String(300), default="")
    flow_id: Mapped[str | None] = mapped_column(String(100))
    flow_name: Mapped[str] = mapped_column(String(300), default="")
    status: Mapped[str] = mapped_column(String(20))
    """`in_progress`, `pending_interrupt`, `completed`, `stopped`, `error`."""
    phase: Mapped[str] = mapped_column(String(30), default="clarify")
    iteration: Mapped[int] = mapped_column(Integer, default=1)
    interrupt: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """What it waits for, as `InterruptPayload`; kept while it waits."""
    answer: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """The answer to `interrupt`, until it has reached a checkpoint: no approval is lost with a process."""
    input_tokens: Mapped[int] = mapped_column(Integer, default=0)
    output_tokens: Mapped[int] = mapped_column(Integer, default=0)
    stop_reason: Mapped[str] = mapped_column(Text, default="")
    options: Mapped[dict[str, Any]] = mapped_column(Json)
    """`test_trials`, `max_iterations`, `token_budget`, `skip_clarification`, `repairs_approved`."""
    webhook_url: Mapped[str] = mapped_column(Text, default="")
    events: Mapped[int] = mapped_column(Integer, default=0)
    """Number of the last event."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class EventRow(Row):
    """Something that happened in a session. Pieces of the model's words are not kept."""

    __tablename__ = "codev_events"
    __table_args__ = (ForeignKeyConstraint(["session_id"], ["codev_sessions.id"], ondelete="CASCADE"),)

    session_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    kind: Mapped[str] = mapped_column(String(30))
    data: Mapped[dict[str, Any]] = mapped_column(Json)
    at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class NoticeRow(JobColumns, Row):
    """A call of a session's webhook: a job that is due when the session begins to wait for a user."""

    __tablename__ = "codev_notices"
    __table_args__ = (
        ForeignKeyConstraint(["session_id"], ["codev_sessions.id"], ondelete="CASCADE"),
        Index("ix_codev_notices_session_id", "session_id"),
        *job_indexes("codev_notices"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(36))
    interrupt_id: Mapped[str] = mapped_column(String(100))
    """What the session waits for. Once it waits for something else, nothing is sent."""


class WriteRow(Row):
    """A write of a session: written down before it is made, with the flow as it was, and again when it was made."""

    __tablename__ = "codev_writes"
    __table_args__ = (
        ForeignKeyConstraint(["session_id"], ["codev_sessions.id"], ondelete="CASCADE"),
        Index("ix_codev_writes_session_id_number", "session_id", "number"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    """The token under which the place is written to."""
    session_id: Mapped[str] = mapped_column(String(36))
    call_key: Mapped[str] = mapped_column(String(200), unique=True)
    """Session and tool call: the same call is never made twice."""
    number: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(20))
    """`intended`, `done`, `refused` (the place said no and nothing was written), `rolled_back`, `kept`."""
    iteration: Mapped[int] = mapped_column(Integer, default=1)
    tool: Mapped[str] = mapped_column(String(100))
    summary: Mapped[str] = mapped_column(Text, default="")
    flow_id: Mapped[str | None] = mapped_column(String(100))
    before: Mapped[str | None] = mapped_column(EncryptedText)
    """Snapshot (DD-026): JSON of `name`, `definition`, `mark`, `about`, encrypted; null where the write made the flow.
    A flow of another place may hold a secret in the clear."""
    change: Mapped[str] = mapped_column(EncryptedText)
    """JSON of `name`, `definition`, `about`, `summary`, encrypted."""
    after_mark: Mapped[str | None] = mapped_column(String(64))
    answer: Mapped[dict[str, Any] | None] = mapped_column(Json)
    at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class PatternRow(TenantRow):
    """A flow that a session brought to its end, to be found by later ones (DD-031)."""

    __tablename__ = "codev_patterns"
    __table_args__ = (
        of_tenant("space_id", "spaces"),
        Index("ix_codev_patterns_tenant_id_domain", "tenant_id", "domain"),
        Index("ix_codev_patterns_space_id_digest", "space_id", "digest", unique=True),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    domain: Mapped[str] = mapped_column(String(40))
    name: Mapped[str] = mapped_column(String(300))
    requirement: Mapped[str] = mapped_column(Text)
    definition: Mapped[dict[str, Any]] = mapped_column(Json)
    """Without secrets and places on a canvas."""
    digest: Mapped[str | None] = mapped_column(String(64))
    """Of domain, requirement and definition: the same again is counted, not kept twice."""
    session_id: Mapped[str | None] = mapped_column(String(36))
    success_count: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class PatternWordRow(Row):
    """A stemmed word of a pattern: the index that full-text search looks in, the same on every database."""

    __tablename__ = "codev_pattern_words"
    __table_args__ = (
        ForeignKeyConstraint(["pattern_id"], ["codev_patterns.id"], ondelete="CASCADE"),
        Index("ix_codev_pattern_words_pattern_id", "pattern_id"),
    )

    tenant_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    word: Mapped[str] = mapped_column(String(40), primary_key=True)
    pattern_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    weight: Mapped[int] = mapped_column(Integer)
    """More for a word of the name than for one of the requirement."""


class PatternUseRow(Row):
    """That a session used or made a pattern: it is counted once, when the session ends well."""

    __tablename__ = "codev_pattern_uses"
    __table_args__ = (ForeignKeyConstraint(["pattern_id"], ["codev_patterns.id"], ondelete="CASCADE"),)

    pattern_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    counted: Mapped[bool] = mapped_column(Boolean, default=False)


class InstanceRow(Row):
    """A Flowise server that sessions of a tenant may work on (DD-032). Its key is a variable, named here."""

    __tablename__ = "codev_instances"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    id: Mapped[str] = mapped_column(String(100), primary_key=True)
    """The name that sessions choose it by."""
    endpoint: Mapped[str] = mapped_column(Text)
    key_variable: Mapped[str] = mapped_column(String(200), default="")
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
