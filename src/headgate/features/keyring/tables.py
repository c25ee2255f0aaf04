"""Tables of the installation's keys: never the keys themselves, which are in files."""

from sqlalchemy import BigInteger, CheckConstraint, Column, String, Table, Text

from headgate.features.jobs.tables import job_columns, job_indexes
from headgate.features.keyring.states import KeyState
from headgate.foundation.database import Json, metadata, partial_index
from headgate.foundation.keyring import Purpose

installation_keys = Table(
    "installation_keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("purpose", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("public_key", String(64)),
    Column("created_at", BigInteger),
    Column("activated_at", BigInteger),
    Column("replaced_at", BigInteger),
    Column("retired_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("reason", Text),
    Column("progress", Json),
    *job_columns(),
    CheckConstraint(f"purpose IN ({', '.join(repr(purpose.value) for purpose in Purpose)})", name="purpose_is_known"),
    CheckConstraint(f"state IN ({', '.join(repr(state.value) for state in KeyState)})", name="state_is_known"),
    partial_index("ux_installation_keys_current", "purpose", where="state = 'current'", unique=True),
    partial_index("ux_installation_keys_prepared", "purpose", where="state = 'prepared'", unique=True),
    *job_indexes("installation_keys"),
)
"""Times are microseconds in UTC; the age of the first key is unknown. There is no row before a rotation.

`progress`: `waiting_for`, names of processes; `left`, remaining values of other keys by column; `unreadable`, values by
key id that no key of the ring can read.
"""

key_readers = Table(
    "key_readers",
    metadata,
    Column("process_id", String(64), primary_key=True),
    Column("seen_at", BigInteger, nullable=False),
    Column("key_ids", Json, nullable=False),
    Column("writes_with", Json, nullable=False),
)
"""Processes that run jobs: ids of readable keys, and the writing key by purpose."""
