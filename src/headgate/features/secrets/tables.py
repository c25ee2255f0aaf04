"""Encrypted variables."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Encrypted, Json, Row, Timestamp, now, of_tenant, partial_index
from headgate.foundation.ids import new_id

OF_SPACE = "space_id IS NOT NULL"
OF_ORGANISATION = "space_id IS NULL"


class Variable(Row):
    """A named value of a space, or of the organisation, encrypted at rest whether it is a secret or not."""

    __tablename__ = "variables"
    __table_args__ = (
        of_tenant("space_id", "spaces"),
        partial_index("ux_variables_space_id_name", "tenant_id", "space_id", "name", where=OF_SPACE, unique=True),
        partial_index("ux_variables_tenant_id_name", "tenant_id", "name", where=OF_ORGANISATION, unique=True),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    space_id: Mapped[str | None] = mapped_column(String(36))
    """The space whose flows may use it; None: every space of the organisation."""
    name: Mapped[str] = mapped_column(String(128))
    token: Mapped[bytes] = mapped_column(Encrypted)
    secret: Mapped[bool]
    hosts: Mapped[list[str] | None] = mapped_column(Json)
    """Servers it may be sent to, as origins; None: any that a flow names, except for a model provider's key."""
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
