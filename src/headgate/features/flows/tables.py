"""Flows, their immutable versions, and the steps and edges of each version.

The database itself refuses a self edge, a cycle and an edge between two flows or versions: an edge names the order of
both its ends, both pairs are foreign keys, and the parent's order is smaller than the child's.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, Row, Timestamp, now, of_tenant


class FlowRow(Row):
    """A flow and its draft."""

    __tablename__ = "flows"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        of_tenant("space_id", "spaces"),
        Index("ix_flows_space_id_deleted_at", "space_id", "deleted_at"),
        Index("ix_flows_tenant_id_updated_at", "tenant_id", "updated_at"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    space_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(String(10_000), default="")
    draft: Mapped[dict[str, Any]] = mapped_column(Json)
    revision: Mapped[int] = mapped_column(default=1)
    restores: Mapped[int | None]
    """The earlier revision that an undo restored; None when the draft is the result of a change."""
    draft_version: Mapped[int | None]
    """The version with the draft's content, if it was frozen."""
    last_version: Mapped[int] = mapped_column(default=0)
    last_release: Mapped[int] = mapped_column(default=0)
    published_version: Mapped[int | None]
    created_by_user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    owner_user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    updated_by_user_id: Mapped[str | None] = mapped_column(String(36))
    """The user who last changed it; the id of a deleted user stays."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    purged_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When its content was deleted from the trash: only the versions and the name are left, for its runs."""
    folder: Mapped[str] = mapped_column(String(300), default="", server_default=text("''"))
    """Path in its space, parts separated by `/`; empty: in no folder."""


class FlowDraftRow(Row):
    """An earlier draft of a flow: the content of one revision."""

    __tablename__ = "flow_drafts"
    __table_args__ = (of_tenant("flow_id", "flows"),)

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant_id: Mapped[str] = mapped_column(String(36))
    definition: Mapped[dict[str, Any]] = mapped_column(Json)
    """Including name and description."""
    restores: Mapped[int | None]
    """As in `FlowRow`."""
    saved_at: Mapped[datetime] = mapped_column(Timestamp)


class FlowVersionRow(Row):
    """A frozen flow. A database trigger refuses to change its content."""

    __tablename__ = "flow_versions"
    __table_args__ = (
        of_tenant("flow_id", "flows"),
        UniqueConstraint("flow_id", "checksum"),
        UniqueConstraint("flow_id", "release"),
        CheckConstraint("version >= 1", name="version_from_one"),
    )

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant_id: Mapped[str] = mapped_column(String(36))
    checksum: Mapped[str] = mapped_column(String(64))
    logic_checksum: Mapped[str] = mapped_column(String(64))
    definition: Mapped[dict[str, Any]] = mapped_column(Json)
    headgate_version: Mapped[str] = mapped_column(String(32))
    created_by_user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    release: Mapped[int | None]
    """Counts publications from 1; empty for a version that was only used for tests."""
    released_at: Mapped[datetime | None] = mapped_column(Timestamp)
    release_notes: Mapped[str] = mapped_column(String(2_000), default="")


class VersionStepRow(Row):
    """A step of a version; results and attempts of runs point here."""

    __tablename__ = "version_steps"
    __table_args__ = (
        ForeignKeyConstraint(
            ["flow_id", "version"], ["flow_versions.flow_id", "flow_versions.version"], ondelete="CASCADE"
        ),
        UniqueConstraint("flow_id", "version", "step_order"),
        UniqueConstraint("flow_id", "version", "step_id", "step_order"),
        CheckConstraint("step_order >= 1", name="order_from_one"),
    )

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    step_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    step_order: Mapped[int]
    type: Mapped[str] = mapped_column(String(64))


class VersionEdgeRow(Row):
    """A dependency between two steps of one version."""

    __tablename__ = "version_edges"
    __table_args__ = (
        ForeignKeyConstraint(
            ["flow_id", "version", "parent_step_id", "parent_order"],
            [
                "version_steps.flow_id",
                "version_steps.version",
                "version_steps.step_id",
                "version_steps.step_order",
            ],
            ondelete="CASCADE",
            name="fk_version_edges_parent",
        ),
        ForeignKeyConstraint(
            ["flow_id", "version", "child_step_id", "child_order"],
            [
                "version_steps.flow_id",
                "version_steps.version",
                "version_steps.step_id",
                "version_steps.step_order",
            ],
            ondelete="CASCADE",
            name="fk_version_edges_child",
        ),
        CheckConstraint("parent_step_id <> child_step_id", name="no_self_edge"),
        CheckConstraint("parent_order < child_order", name="no_cycle"),
    )

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parent_step_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    child_step_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    parent_order: Mapped[int]
    child_order: Mapped[int]
