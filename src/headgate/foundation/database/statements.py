"""Statements that SQLAlchemy only supports per dialect."""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite
else:
    postgresql = lazy_module("sqlalchemy.dialects.postgresql")
    sqlite = lazy_module("sqlalchemy.dialects.sqlite")


def insert_into(session: AsyncSession, table: type[Any] | Table) -> "postgresql.Insert | sqlite.Insert":
    """Return an insert with `on_conflict_do_nothing` and `on_conflict_do_update` for the dialect of the session."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.Insert(table)
    return sqlite.Insert(table)
