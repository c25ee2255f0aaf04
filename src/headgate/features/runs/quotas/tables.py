"""Table of the limits that an organisation sets for itself, its spaces and its visitors."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, PrimaryKeyConstraint, String, Table

from headgate.features.runs.quotas.bounds import Quota, Scope
from headgate.features.runs.states import sql_list
from headgate.foundation.database import metadata

quotas = Table(
    "quotas",
    metadata,
    Column("tenant_id", String(36), ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("scope", String(16), nullable=False),
    Column("space_id", String(36), nullable=False),
    Column("quota", String(32), nullable=False),
    Column("most", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant_id", "scope", "space_id", "quota"),
    CheckConstraint(f"scope IN {sql_list(Scope)}", name="scope_known"),
    CheckConstraint(f"quota IN {sql_list(Quota)}", name="quota_known"),
    CheckConstraint("most >= 0", name="most_not_negative"),
)
"""`space_id` is set for the limit of one space; the scope `space` without one applies to every space."""
