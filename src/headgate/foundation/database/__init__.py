"""The database: one code path for SQLite and PostgreSQL."""

from headgate.foundation.database.connect import PROBES, Database, database_errors, explain, set_pragmas
from headgate.foundation.database.tables import Json, Row, Timestamp, metadata, microseconds, moment, now

__all__ = [
    "PROBES",
    "Database",
    "Json",
    "Row",
    "Timestamp",
    "database_errors",
    "explain",
    "metadata",
    "microseconds",
    "moment",
    "now",
    "set_pragmas",
]
