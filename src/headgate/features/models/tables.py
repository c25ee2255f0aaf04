"""The security class that a tenant gives each model (seed 002, security_classification)."""

from sqlalchemy import CheckConstraint, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row


class ModelClass(Row):
    """The highest class of data that a model may be given; `*` as name stands for a provider's other models."""

    __tablename__ = "model_classes"
    __table_args__ = (CheckConstraint("level >= 0", name="level_not_negative"),)

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    provider: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    level: Mapped[int]
