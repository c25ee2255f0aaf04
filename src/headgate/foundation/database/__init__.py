"""The database: one code path for SQLite and PostgreSQL."""

from headgate.foundation.database.connect import PROBES, Database, database_errors, explain, set_pragmas
from headgate.foundation.database.encrypted import Encrypted, EncryptedText, encrypted_columns
from headgate.foundation.database.statements import insert_into
from headgate.foundation.database.tables import (
    Json,
    Row,
    TenantRow,
    Timestamp,
    metadata,
    microseconds,
    moment,
    now,
    of_tenant,
    partial_index,
)

__all__ = [
    "PROBES",
    "Database",
    "Encrypted",
    "EncryptedText",
    "Json",
    "Row",
    "TenantRow",
    "Timestamp",
    "database_errors",
    "encrypted_columns",
    "explain",
    "insert_into",
    "metadata",
    "microseconds",
    "moment",
    "now",
    "of_tenant",
    "partial_index",
    "set_pragmas",
]
