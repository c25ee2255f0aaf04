"""Writes the schema that a new SQLite database begins with, as the migrations create it."""

from alembic import command
from sqlalchemy import create_engine

from headgate.foundation.database.migrate import HEAD, config
from headgate.foundation.database.snapshot import SNAPSHOT, written

if __name__ == "__main__":
    with create_engine("sqlite://").begin() as connection:
        command.upgrade(config(connection), HEAD)
        SNAPSHOT.write_text(written(connection), encoding="utf-8")
