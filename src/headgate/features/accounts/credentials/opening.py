"""Selects the adapter for the database."""

from pathlib import Path

from headgate.features.accounts.credentials.credential import Credentials
from headgate.features.accounts.credentials.postgres import PostgresCredentials
from headgate.features.accounts.credentials.sqlite import SqliteCredentials
from headgate.foundation.database import Database


def credentials_of(database: Database) -> Credentials:
    """Return the credentials store of a database, with separate connections."""
    if database.dialect == "postgresql":
        url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        return PostgresCredentials(url)
    return SqliteCredentials(Path(database.url.database or ""), database.settings)
