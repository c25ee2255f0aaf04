"""Triggers and their occurrences. Times are microseconds in UTC."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Encrypted, Json, Row, partial_index


class TriggerRow(Row, JobColumns):
    """A way in which a flow starts by itself. It is a job, due when its next occurrence is."""

    __tablename__ = "triggers"
    __table_args__ = (
        ForeignKeyConstraint(["flow_id", "tenant_id"], ["flows.id", "flows.tenant_id"], ondelete="CASCADE"),
        UniqueConstraint("id", "tenant_id"),
        UniqueConstraint("flow_id", "name"),
        CheckConstraint(
            "kind IN ('schedule', 'webhook', 'flow', 'event', 'manual', 'feed', 'page', 'folder', 'rows', 'mail',"
            " 'api', 'form', 'stream', 'queue', 'topic')",
            name="kind_known",
        ),
        Index("ix_triggers_tenant_id_id", "tenant_id", "id"),
        partial_index("ix_triggers_address", "address", where="address IS NOT NULL", unique=True),
        *job_indexes("triggers"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    flow_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(120))
    kind: Mapped[str] = mapped_column(String(16))
    config: Mapped[dict[str, Any]] = mapped_column(Json)
    """By kind: `schemas.ScheduleConfig` and others."""
    policies: Mapped[dict[str, Any]] = mapped_column(Json)
    input: Mapped[dict[str, Any]] = mapped_column(Json)
    """The saved input of its runs: `schemas.TriggerInput`."""
    owner_user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    """The user whose rights each firing uses, as they are then."""
    enabled: Mapped[bool]
    paused_reason: Mapped[str] = mapped_column(String(500), default="")
    resumed_at: Mapped[int] = mapped_column(BigInteger)
    """When it was last enabled: failures before it do not count."""
    secret: Mapped[bytes | None] = mapped_column(Encrypted)
    """What calls are verified with."""
    address: Mapped[str | None] = mapped_column(String(64))
    """Last segment of its public address."""
    submissions: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    """How many submissions of its form started a run, or wait for theirs."""
    catching_until: Mapped[int | None] = mapped_column(BigInteger)
    """The next call until then is shown and starts no run."""
    caught: Mapped[bytes | None] = mapped_column(Encrypted)
    """That call."""
    cursor_at: Mapped[int] = mapped_column(BigInteger)
    """Every due time up to here has an occurrence; for `flow` every end of a run."""
    next_at: Mapped[int | None] = mapped_column(BigInteger)
    """The next due time, without jitter; the time of the next poll."""
    poll_cursor: Mapped[str | None] = mapped_column(Text)
    """What polls have handled, as JSON: `polling.cursor`. Null before the first one."""
    poll_failures: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    """Failed polls in a row."""
    poll_error: Mapped[str] = mapped_column(String(500), default="", server_default=text("''"))
    """Why the last poll failed. Without failed polls: the folder that is waited for, which does not exist yet."""
    only_polled: Mapped[str] = mapped_column(String(500), default="", server_default=text("''"))
    """Why its source does not report changes, so that only polls find them."""
    polled_at: Mapped[int | None] = mapped_column(BigInteger)
    created_by_user_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[int] = mapped_column(BigInteger)


class OccurrenceRow(Row):
    """One due time or event of a trigger: it exists once, whether it started a run or not."""

    __tablename__ = "trigger_occurrences"
    __table_args__ = (
        ForeignKeyConstraint(["trigger_id", "tenant_id"], ["triggers.id", "triggers.tenant_id"], ondelete="CASCADE"),
        UniqueConstraint("trigger_id", "occurrence_key"),
        CheckConstraint("status IN ('started', 'queued', 'skipped', 'cancelled')", name="status_known"),
        Index("ix_trigger_occurrences_trigger_id_id", "trigger_id", "id"),
        Index("ix_trigger_occurrences_trigger_id_created_at", "trigger_id", "created_at"),
        Index("ix_trigger_occurrences_created_at", "created_at"),
        partial_index("ix_trigger_occurrences_flow_run_id", "flow_run_id", where="flow_run_id IS NOT NULL"),
        partial_index("ix_trigger_occurrences_queued", "trigger_id", "id", where="status = 'queued'"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    trigger_id: Mapped[str] = mapped_column(String(36))
    occurrence_key: Mapped[str] = mapped_column(String(255))
    """`at:` and the due time, `event:` or `item:` and the key of the event or item, or `manual:` and an id."""
    due_at: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(String(64), default="")
    """Why it started no run, or not yet: a code."""
    message: Mapped[str] = mapped_column(Text, default="")
    flow_run_id: Mapped[str | None] = mapped_column(String(36))
    """Without a foreign key: the run may be deleted before the occurrence."""
    backfill_id: Mapped[str | None] = mapped_column(String(36))
    at_once: Mapped[int | None] = mapped_column(Integer)
    """Of a backfill: it starts while fewer runs of the trigger have not ended. Null: the limit of the trigger."""
    content: Mapped[bytes | None] = mapped_column(Encrypted)
    """The input of a queued one."""


class LinkRow(Row):
    """A one-time link to the form of a trigger."""

    __tablename__ = "trigger_links"
    __table_args__ = (
        ForeignKeyConstraint(["trigger_id", "tenant_id"], ["triggers.id", "triggers.tenant_id"], ondelete="CASCADE"),
        Index("ix_trigger_links_token_hash", "token_hash", unique=True),
        Index("ix_trigger_links_trigger_id_id", "trigger_id", "id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    trigger_id: Mapped[str] = mapped_column(String(36))
    token_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of the last segment of its address, in hex: the address itself is shown once."""
    label: Mapped[str] = mapped_column(String(200))
    """For whom it is, in the words of the user who created it."""
    created_at: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[int | None] = mapped_column(BigInteger)
    used_at: Mapped[int | None] = mapped_column(BigInteger)
    revoked_at: Mapped[int | None] = mapped_column(BigInteger)
    occurrence_id: Mapped[str | None] = mapped_column(String(36))
    """Its submission. Without a foreign key: the occurrence may be deleted before the link."""
