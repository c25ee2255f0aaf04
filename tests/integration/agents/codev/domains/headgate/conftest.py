from collections.abc import AsyncIterator

import pytest

from headgate.entrypoints.compose import Parts, open_parts
from headgate.foundation.settings import Settings
from tests.support.databases import SqliteFiles, make_settings


@pytest.fixture
def one_database(sqlite_files: SqliteFiles, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a fresh, migrated SQLite database."""
    folder = tmp_path_factory.mktemp("one")
    sqlite_files.fresh(folder)
    return make_settings(folder)


@pytest.fixture
async def parts(one_database: Settings) -> AsyncIterator[Parts]:
    """An installation on SQLite."""
    async with open_parts(one_database) as found:
        yield found


@pytest.fixture
async def parts_on_both(settings: Settings) -> AsyncIterator[Parts]:
    """An installation on each database, for what a transaction decides."""
    async with open_parts(settings) as found:
        yield found
