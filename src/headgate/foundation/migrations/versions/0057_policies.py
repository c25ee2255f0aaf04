"""Rejected tokens of connections, notices of approvals by mail and chat, classification of the state of flows."""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0054"

_STATES = ("flow_states", "flow_state_values")


def upgrade() -> None:
    op.add_column("connections", sa.Column("rejected_at", sa.BigInteger()))
    op.add_column("approval_notices", sa.Column("connection", sa.String(length=64)))
    op.add_column("approval_notices", sa.Column("link_id", sa.String(length=36)))
    for table in _STATES:
        op.add_column(table, sa.Column("classification", sa.Integer()))


def downgrade() -> None:
    for table in _STATES:
        op.drop_column(table, "classification")
    for column in ("link_id", "connection"):
        op.drop_column("approval_notices", column)
    op.drop_column("connections", "rejected_at")
