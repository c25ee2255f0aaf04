"""Tags of flows, and the flows that users have marked as favourites."""

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, of_tenant


class FlowTagRow(Row):
    """A tag of a flow."""

    __tablename__ = "flow_tags"
    __table_args__ = (
        of_tenant("flow_id", "flows"),
        Index("ix_flow_tags_tenant_id_tag", "tenant_id", "tag"),
    )

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tag: Mapped[str] = mapped_column(String(40), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))


class FlowFavouriteRow(Row):
    """A flow that a user has marked as a favourite."""

    __tablename__ = "flow_favourites"
    __table_args__ = (of_tenant("flow_id", "flows"),)

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
