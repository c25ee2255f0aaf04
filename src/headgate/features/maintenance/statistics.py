"""Statistics of SQLite's large tables, from which it chooses indexes. PostgreSQL collects its own.

Without them SQLite takes every index for equally selective: of a query for a run's rows in a tenant it may read all
rows of the tenant. Statistics of a small table would be worse than none, as it may have a million rows an hour later.
"""

from sqlalchemy import text

from headgate.features.files.storage import Storage
from headgate.features.maintenance.outcome import Outcome
from headgate.foundation.database import Database
from headgate.foundation.settings import RetentionSettings

LARGE = 10_000
"""Rows from which on a table is analyzed."""
_TABLES = text(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    " AND sql NOT LIKE 'CREATE VIRTUAL%'"
)


async def update_statistics(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Analyze the large tables, reading a thousand rows of each index; nothing when `dry`."""
    if database.dialect != "sqlite" or dry:
        return Outcome()
    async with database.reading() as session:
        names = (await session.execute(_TABLES)).scalars().all()
        row_of = 'SELECT 1 FROM "{}" LIMIT 1 OFFSET {}'  # a name of the schema
        large = [name for name in names if (await session.execute(text(row_of.format(name, LARGE)))).first()]
    async with database.writing() as session:
        await session.execute(text("PRAGMA analysis_limit = 1000"))
        for name in large:
            await session.execute(text(f'ANALYZE "{name}"'))
    return Outcome()
