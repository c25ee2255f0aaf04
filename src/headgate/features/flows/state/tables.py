"""Values that last between runs of a flow, and their history. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, ForeignKeyConstraint, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Encrypted, Row, of_tenant


class FlowStateRow(Row):
    """The current value of a name. Runs of versions that were never published have values of their own (`draft`)."""

    __tablename__ = "flow_states"
    __table_args__ = (of_tenant("flow_id", "flows"),)

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    draft: Mapped[bool] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    version: Mapped[int]
    """Counts the values from 1."""
    size: Mapped[int]
    """Bytes of the value as JSON."""
    content: Mapped[bytes] = mapped_column(Encrypted)
    """The value and the marks of outside content in it, as JSON."""
    classification: Mapped[int | None]
    """Of the value; null when classifications were disabled or a user set it."""
    value_type: Mapped[str | None] = mapped_column(String(16))
    """Declared by the last step that declares one: every new value complies with it. Null: any."""
    changed_at: Mapped[int] = mapped_column(BigInteger)


class FlowStateValueRow(Row):
    """A value that a name had; never changed. A step writes one value: its next attempts find it."""

    __tablename__ = "flow_state_values"
    __table_args__ = (
        ForeignKeyConstraint(
            ["flow_id", "draft", "name"],
            ["flow_states.flow_id", "flow_states.draft", "flow_states.name"],
            ondelete="CASCADE",
        ),
        UniqueConstraint("flow_run_id", "step_id"),
    )

    flow_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    draft: Mapped[bool] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant_id: Mapped[str] = mapped_column(String(36))
    content: Mapped[bytes] = mapped_column(Encrypted)
    """As in `FlowStateRow`, with the value before it."""
    classification: Mapped[int | None]
    flow_run_id: Mapped[str | None] = mapped_column(String(36))
    step_id: Mapped[str | None] = mapped_column(String(64))
    user_id: Mapped[str | None] = mapped_column(String(36))
    """The user who set it by hand."""
    written_at: Mapped[int] = mapped_column(BigInteger)
