"""Data keys of tenants. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, String, Table, UniqueConstraint

from headgate.features.encryption.states import DataKeyState
from headgate.foundation.database import Encrypted, metadata, partial_index

data_keys = Table(
    "data_keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("tenant_id", String(36), ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("state", String(16), nullable=False),
    Column("wrapped", Encrypted),
    Column("created_at", BigInteger, nullable=False),
    Column("destroyed_at", BigInteger),
    UniqueConstraint("id", "tenant_id"),
    CheckConstraint(f"state IN ({', '.join(repr(state.value) for state in DataKeyState)})", name="state_is_known"),
    CheckConstraint("(wrapped IS NULL) = (state = 'destroyed')", name="destroyed_has_no_key"),
    partial_index("ux_data_keys_active", "tenant_id", where="state = 'active'", unique=True),
)
"""`wrapped` is the key, encrypted with the installation's: a rotation re-wraps it without rewriting content."""
