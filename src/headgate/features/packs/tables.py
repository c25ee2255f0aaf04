"""Installed packs. They belong to the installation, so these tables have no tenant."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, Row, Timestamp, now


class PackRow(Row):
    """An installed pack: one version of each name."""

    __tablename__ = "packs"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    version: Mapped[str] = mapped_column(String(20))
    digest: Mapped[str] = mapped_column(String(64))
    manifest: Mapped[dict[str, Any]] = mapped_column(Json)
    key_id: Mapped[str | None] = mapped_column(String(16))
    """The key that signed it; None when unsigned."""
    installed_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class PackItem(Row):
    """A named part of an installed pack. The key is unique among all packs."""

    __tablename__ = "pack_items"
    __table_args__ = (Index("ix_pack_items_pack", "pack"),)

    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    """Class name of a component in lower case, id of a template, connection kind or skill, language of `pack:sv`."""
    pack: Mapped[str] = mapped_column(ForeignKey("packs.name", ondelete="CASCADE"))
    code_hash: Mapped[str | None] = mapped_column(String(64))
    """Of a component: the row in `pack_components`."""
    content: Mapped[dict[str, Any]] = mapped_column(Json)


class PackComponent(Row):
    """Checked code of a pack. Rows stay after an upgrade or removal: versions of flows rely on them."""

    __tablename__ = "pack_components"

    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    pack: Mapped[str] = mapped_column(String(40))
    version: Mapped[str] = mapped_column(String(20))
    """The first version with this code."""
    type: Mapped[str] = mapped_column(String(64))
    code: Mapped[str] = mapped_column(Text)
    template: Mapped[dict[str, Any]] = mapped_column(Json)
    manifest: Mapped[dict[str, Any]] = mapped_column(Json)


class PackSigner(Row):
    """A signing key that the operator trusts."""

    __tablename__ = "pack_signers"

    key_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    public_key: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(100))
    trusted_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
