"""The adapter that fits the database."""

from pathlib import Path

from headgate.features.accounts.credentials.found import Credentials
from headgate.features.accounts.credentials.postgres import PostgresCredentials
from headgate.features.accounts.credentials.sqlite import SqliteCredentials
from headgate.foundation.database import Database


def credentials_of(database: Database) -> Credentials:
    """Keys and sessions of a database, over connections of their own."""
    if database.dialect == "postgresql":
        url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        return PostgresCredentials(url)
    return SqliteCredentials(Path(database.url.database or ""), database.settings)
